import type { ComponentProps } from 'react';
import type { Shortcut } from '../../review/shortcuts.tsx';

type Keys = Readonly<Record<string, () => void>>;

/** The keys of shortcuts, for pages on which they work only while the stage has the focus. */
export const keysOf = (shortcuts: readonly Shortcut[]): Keys =>
  Object.fromEntries(shortcuts.flatMap(({ keys, run }) => keys.map((key) => [key, run])));

interface StageProps extends ComponentProps<'section'> {
  /** Accessible label; names the supported keys. */
  label: string;
  /** Key handlers, active while the focus is in the stage. */
  keys: Keys;
}

/** A focusable frame for content with keyboard control. */
export function Stage({ label, keys, ...rest }: StageProps) {
  return (
    // Not a landmark, as a page can have two stages.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <section
      {...rest}
      role="group"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: key handlers need the focus.
      tabIndex={0}
      onKeyDown={(event) => {
        const { target, key } = event;
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const act = keys[key.length === 1 ? key.toLowerCase() : key];
        // A focused button handles the space bar itself, and a field the text that is typed.
        const isTaken = target instanceof HTMLElement && target.matches('input:not([type=range]), select, textarea');
        if (act === undefined || isTaken || (key === ' ' && target instanceof HTMLButtonElement)) return;
        event.preventDefault();
        act();
      }}
    />
  );
}
