import type { Shape } from '@review/contract';
import { useEffect, useState } from 'react';
import { savedKey } from '../saved-key.ts';
import { shapesOf } from './drawing/read-annotation.ts';

/** Tells people who share a browser apart, without storing anything that reveals the key. */
function personOf(key: string | null): string {
  let hash = 0x811c9dc5;
  for (const character of key ?? '') hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** State that stays in the browser, after a reload and a sign-out too, until it is `empty` again. By person. */
function useStored<Value>(name: string, read: (stored: unknown) => Value, isEmpty: (value: Value) => boolean) {
  const [place] = useState(() => `draft ${personOf(savedKey())} ${name}`);
  const [value, setValue] = useState(() => {
    try {
      return read(JSON.parse(localStorage.getItem(place) ?? 'null'));
    } catch {
      return read(null);
    }
  });
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    try {
      if (isEmpty(value)) localStorage.removeItem(place);
      else localStorage.setItem(place, JSON.stringify(value));
    } catch {
      // The storage of the browser is full or off: the draft lives as long as the page.
    }
  }, [value, place, isHeld]);
  /** `setHeld(true)` keeps what is stored as it is, while it is being sent. */
  return [value, setValue, setHeld] as const;
}

/** The text of a comment that is being written about a file, project or comment. */
export const useDraftText = (about: string) =>
  useStored(
    `text ${about}`,
    (stored) => (typeof stored === 'string' ? stored : ''),
    (text) => text.trim() === '',
  );

/** What a comment that is being written is about. */
export interface Marks {
  /** Milliseconds or page; null while it follows the viewer. */
  anchor: number | null;
  /** The length of the range that starts at the anchor. */
  duration: number | null;
  shapes: readonly Shape[];
}

export const NO_MARKS: Marks = { anchor: null, duration: null, shapes: [] };

function readMarks(stored: unknown): Marks {
  if (typeof stored !== 'object' || stored === null) return NO_MARKS;
  const number = (name: string) => {
    const value: unknown = Reflect.get(stored, name);
    return typeof value === 'number' ? value : null;
  };
  const shapes = shapesOf({ version: 1, shapes: Reflect.get(stored, 'shapes') });
  return { anchor: number('anchor'), duration: number('duration'), shapes };
}

export const useMarks = (fileId: string) =>
  useStored(`marks ${fileId}`, readMarks, ({ anchor, shapes }) => anchor === null && shapes.length === 0);
