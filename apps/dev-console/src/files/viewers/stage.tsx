import type { ComponentProps } from 'react';

interface StageProps extends ComponentProps<'section'> {
  /** Accessible label; names the supported keys. */
  label: string;
  /** Key handlers, active while the focus is in the stage. */
  keys: Readonly<Record<string, () => void>>;
}

/** A focusable frame for content with keyboard control. */
export function Stage({ label, keys, ...rest }: StageProps) {
  return (
    <section
      {...rest}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: key handlers need the focus.
      tabIndex={0}
      onKeyDown={(event) => {
        const act = keys[event.key];
        // A focused button handles the space bar itself.
        if (act === undefined || (event.key === ' ' && event.target instanceof HTMLButtonElement)) return;
        event.preventDefault();
        act();
      }}
    />
  );
}
