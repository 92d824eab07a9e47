import { Tooltip } from '@mantine/core';
import { type ReactElement, useId } from 'react';

/** Says why the control inside is off; who does not hover reaches the reason by keyboard. */
export function Hinted({ hint, children }: { hint: string | null; children: ReactElement }) {
  const id = useId();
  if (hint === null) return children;
  return (
    <Tooltip label={hint} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is off takes no focus, and its reason must be readable. */}
      <span tabIndex={0} role="note" aria-labelledby={id}>
        {children}
        <span id={id} hidden>
          {hint}
        </span>
      </span>
    </Tooltip>
  );
}
