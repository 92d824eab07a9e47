import { useCallback, useMemo, useRef, useState } from 'react';

/** Selects a file or clears it; with shift, all files between the last one and this one. */
export type Choose = (id: string, on: boolean, shift: boolean) => void;

/** The files that are dragged with one: the selection, if it is part of it. */
export type DraggedWith = (id: string) => readonly string[];

/** The selected files of a list. Files that left the list are not selected any more. */
export function useSelection(ids: readonly string[]) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string | null>(null);
  const shown = useRef(ids);
  shown.current = ids;
  // Stable, so that a click renders one row of a long list and not all.
  const choose: Choose = useCallback((id, on, shift) => {
    const from = shift && last.current !== null ? shown.current.indexOf(last.current) : -1;
    const to = shown.current.indexOf(id);
    const range = from < 0 ? [id] : shown.current.slice(Math.min(from, to), Math.max(from, to) + 1);
    last.current = id;
    setMarked((now) => {
      const next = new Set(now);
      for (const each of range) on ? next.add(each) : next.delete(each);
      return next;
    });
  }, []);
  const chosen = useMemo(() => ids.filter((id) => marked.has(id)), [ids, marked]);
  const current = useRef(chosen);
  current.current = chosen;
  return {
    chosen,
    draggedWith: useCallback((id: string) => (current.current.includes(id) ? current.current : [id]), []),
    isChosen: (id: string) => marked.has(id),
    choose,
    chooseAll: () => setMarked(new Set(ids)),
    chooseNone: () => setMarked(new Set()),
  };
}
