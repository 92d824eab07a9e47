import type { ComponentProps } from 'react';

interface StageProps extends ComponentProps<'section'> {
  /** Says which keys it takes. */
  label: string;
  /** What each key does while the stage, or something in it, has the focus. */
  keys: Readonly<Record<string, () => void>>;
}

/** Where content is shown: it can be reached by keyboard, and steered. */
export function Stage({ label, keys, ...rest }: StageProps) {
  return (
    <section
      {...rest}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys need the focus.
      tabIndex={0}
      onKeyDown={(event) => {
        const act = keys[event.key];
        // A button that has the focus takes the space bar itself.
        if (act === undefined || (event.key === ' ' && event.target instanceof HTMLButtonElement)) return;
        event.preventDefault();
        act();
      }}
    />
  );
}
