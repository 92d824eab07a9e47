import { Tooltip } from '@mantine/core';
import { type ReactElement, useId } from 'react';

/** Explains in a tooltip why the control inside is disabled. The tooltip also opens on keyboard focus. */
export function WithHint({ hint, children }: { hint: string | null; children: ReactElement }) {
  const id = useId();
  if (hint === null) return children;
  return (
    <Tooltip label={hint} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a disabled control takes no focus, and its tooltip must be reachable by keyboard. */}
      <span tabIndex={0} role="note" aria-labelledby={id}>
        {children}
        <span id={id} hidden>
          {hint}
        </span>
      </span>
    </Tooltip>
  );
}
