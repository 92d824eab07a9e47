import { Avatar, Popover, Textarea, type TextareaProps, VisuallyHidden } from '@mantine/core';
import { useMergedRef } from '@mantine/hooks';
import { type KeyboardEvent, type Ref, useId, useLayoutEffect, useRef, useState } from 'react';
import classes from './mention-field.module.css';
import { type Audience, type Mentionable, useMentionable } from './mentions.ts';

const MAX_SHOWN = 8;

/** An `@` that begins a word, and what follows it up to the caret. */
const STARTED = /(?<![\p{L}\p{N}_])@(?<typed>[^@\n]{0,60})$/u;

interface Started {
  /** Of the `@`. */
  start: number;
  typed: string;
}

function startedAt(text: string, caret: number | null): Started | null {
  const match = caret === null ? null : STARTED.exec(text.slice(0, caret));
  return match === null ? null : { start: match.index, typed: match.groups?.['typed'] ?? '' };
}

/** By the start of any word of the name, or of the e-mail address. */
const matches = ({ label, email }: Mentionable, typed: string) =>
  [label, email].some((words) => ` ${words.toLowerCase()}`.includes(` ${typed.toLowerCase()}`));

interface MentionFieldProps extends Omit<TextareaProps, 'value' | 'onChange'> {
  ref?: Ref<HTMLTextAreaElement> | undefined;
  audience: Audience;
  value: string;
  onValue: (text: string) => void;
}

/** A text field in which `@` lists the people who can be mentioned. The focus stays in the text. */
export function MentionField({ ref, audience, value, onValue, onKeyDown, onBlur, ...props }: MentionFieldProps) {
  const listId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState<number | null>(null);
  const [chosen, setChosen] = useState(0);
  /** The `@` whose list is closed: by Escape, or because someone was chosen. */
  const [dismissed, setDismissed] = useState<number | null>(null);
  const nextCaret = useRef<number | null>(null);
  const people = useMentionable(audience, value.includes('@'));
  const started = startedAt(value, caret);
  const isAsked = started !== null && started.start !== dismissed;
  const found = isAsked ? people.filter((person) => matches(person, started.typed)).slice(0, MAX_SHOWN) : [];
  const current = Math.min(chosen, found.length - 1);
  const isOpen = found.length > 0;

  useLayoutEffect(() => {
    if (nextCaret.current === null) return;
    field.current?.setSelectionRange(nextCaret.current, nextCaret.current);
    nextCaret.current = null;
  }, [value]);

  function mention(person: Mentionable | undefined) {
    if (person === undefined || started === null) return;
    const before = `${value.slice(0, started.start)}@${person.label} `;
    nextCaret.current = before.length;
    setCaret(before.length);
    setChosen(0);
    setDismissed(started.start);
    onValue(before + value.slice(started.start + 1 + started.typed.length).replace(/^ /, ''));
  }

  function steer(event: KeyboardEvent<HTMLTextAreaElement>) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.nativeEvent.isComposing;
    if (!isOpen || !isPlain) return onKeyDown?.(event);
    if (step !== undefined) setChosen((current + step + found.length) % found.length);
    else if (event.key === 'Enter') mention(found[current]);
    else if (event.key === 'Escape') setDismissed(started?.start ?? null);
    else return onKeyDown?.(event);
    event.preventDefault();
  }

  return (
    <Popover
      opened={isOpen}
      position="top-start"
      offset={6}
      withRoles={false}
      trapFocus={false}
      returnFocus={false}
      closeOnEscape={false}
      transitionProps={{ duration: 0 }}
    >
      <Popover.Target>
        <div>
          <Textarea
            {...props}
            ref={useMergedRef(field, ref)}
            aria-autocomplete="list"
            aria-haspopup="listbox"
            aria-controls={isOpen ? listId : undefined}
            aria-activedescendant={isOpen ? `${listId}-${current}` : undefined}
            value={value}
            onChange={({ target }) => {
              setCaret(target.selectionStart);
              setChosen(0);
              if (!target.value.includes('@')) setDismissed(null);
              onValue(target.value);
            }}
            onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
            onBlur={(event) => {
              setCaret(null);
              setDismissed(null);
              onBlur?.(event);
            }}
            onKeyDown={steer}
          />
          <VisuallyHidden role="status">
            {isOpen && `${found.length === 1 ? '1 person' : `${found.length} people`}: arrows choose, Enter mentions.`}
          </VisuallyHidden>
        </div>
      </Popover.Target>
      <Popover.Dropdown className={classes.dropdown}>
        <div id={listId} role="listbox" aria-label="People to mention">
          {found.map((person, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which refers to the active option.
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys.
            <div
              key={person.id}
              id={`${listId}-${index}`}
              role="option"
              aria-selected={index === current}
              className={classes.person}
              onMouseMove={() => setChosen(index)}
              // Keeps the focus in the field.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => mention(person)}
            >
              <Avatar src={person.avatarUrl} name={person.name} color="gray" alt="" size={22} />
              <span className={classes.name}>{person.name}</span>
              <span className={classes.email}>{person.email}</span>
            </div>
          ))}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
