import { LETTER_HEIGHT } from '@review/contract';
import { useRef } from 'react';
import classes from './drawing.module.css';
import type { Ink } from './tools.ts';

const MAX_LENGTH = 200;

interface TextFieldProps {
  place: readonly [x: number, y: number];
  ink: Ink;
  /** Called with the text, which is empty if it was given up. */
  onEnd: (text: string) => void;
}

/** A field on the frame, where a text is going to be. */
export function TextField({ place: [x, y], ink, onEnd }: TextFieldProps) {
  const ended = useRef(false);
  const end = (text: string) => {
    // Removing the field also takes the focus from it.
    if (ended.current) return;
    ended.current = true;
    onEnd(text.trim());
  };
  return (
    <input
      aria-label="Text on the picture"
      className={classes.text}
      style={{
        left: `${x * 100}%`,
        top: `${y * 100}%`,
        maxWidth: `${(1 - x) * 100}%`,
        color: ink.color,
        fontSize: `max(1rem, ${ink.strokeWidth * LETTER_HEIGHT * 100}cqmin)`,
      }}
      maxLength={MAX_LENGTH}
      ref={(field) => field?.focus()}
      onBlur={({ target }) => end(target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') end(event.currentTarget.value);
        if (event.key === 'Escape') end('');
      }}
    />
  );
}
