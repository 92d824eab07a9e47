import { Modal, Text } from '@mantine/core';
import { createContext, type ReactNode, useContext, useEffect, useEffectEvent, useRef, useState } from 'react';
import classes from './shortcuts.module.css';

export interface Shortcut {
  /** As in `KeyboardEvent.key`; letters in lower case. */
  keys: readonly string[];
  label: string;
  run: () => void;
}

type Source = () => readonly Shortcut[];
const Registry = createContext<Set<Source> | null>(null);

const TYPING = 'textarea, select, input:not([type=range], [type=checkbox], [type=radio]), [contenteditable=true]';
const OWN_KEYS = '[role=dialog], [role=menu], [role=listbox], [role=radiogroup]';
const ACTIVATED = 'a, button, input, summary';
const NAMES: Record<string, string> = { ' ': 'Space', ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓' };

const keyOf = ({ key }: KeyboardEvent) => (key.length === 1 ? key.toLowerCase() : key);

/** Whether a key belongs to the focused element: text is typed, a menu is steered, or a button is pressed. */
function isTaken(event: KeyboardEvent): boolean {
  const { target, key } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  if (!(target instanceof Element)) return false;
  if (target.matches(TYPING) || target.closest(OWN_KEYS) !== null) return true;
  return (key === ' ' || key === 'Enter') && target.matches(ACTIVATED) && !target.matches('[type=range]');
}

/** Runs the shortcuts of its children anywhere on the page. `?` lists them. */
export function Shortcuts({ children }: { children: ReactNode }) {
  const sources = useRef(new Set<Source>());
  const [listed, setListed] = useState<readonly Shortcut[] | null>(null);
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (isTaken(event)) return;
    const all = [...sources.current].flatMap((source) => source());
    const shortcut = all.find(({ keys }) => keys.includes(keyOf(event)));
    if (shortcut === undefined && event.key !== '?') return;
    event.preventDefault();
    if (shortcut !== undefined) shortcut.run();
    else setListed(all);
  });
  useEffect(() => {
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return (
    <Registry value={sources.current}>
      {children}
      <Modal
        opened={listed !== null}
        onClose={() => setListed(null)}
        title="Keys"
        size="md"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <dl className={classes.keys}>
          {[...(listed ?? []), { keys: ['?'], label: 'Show these keys' }].map(({ keys, label }) => (
            <div key={label}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{NAMES[key] ?? key.toUpperCase()}</kbd>
                ))}
              </dt>
              <dd>{label}</dd>
            </div>
          ))}
        </dl>
        <Text size="sm" c="dimmed">
          They work anywhere on the page, except while you type.
        </Text>
      </Modal>
    </Registry>
  );
}

/** Registers shortcuts while the component is mounted, if the page has shortcuts. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const registry = useContext(Registry);
  const current = useEffectEvent(() => shortcuts);
  useEffect(() => {
    if (registry === null) return;
    const source: Source = () => current();
    registry.add(source);
    return () => {
      registry.delete(source);
    };
  }, [registry]);
}
