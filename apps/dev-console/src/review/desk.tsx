import { MAX_SHAPES, type Shape } from '@review/contract';
import { createContext, type RefObject, useContext, useMemo, useRef, useState } from 'react';
import { type Marks, useMarks } from './draft.ts';
import type { Ink, Tool } from './drawing/tools.ts';
import { COLORS, WIDTHS } from './drawing/tools.ts';

/** What the viewer and the comments of a file share while it is reviewed. */
export interface Desk {
  /** Where the comment is that is being written. */
  marks: Marks;
  setMarks: (change: (before: Marks) => Marks) => void;
  /** Keeps the stored marks as they are, while they are being sent. */
  holdMarks: (isHeld: boolean) => void;
  /** The current position of the viewer. */
  position: RefObject<number | null>;
  /** Pauses the viewer, and updates the position to the exact one. */
  pause: RefObject<() => void>;
  composer: RefObject<HTMLTextAreaElement | null>;
  /** Pauses, and keeps the marks at the current position from now on. */
  freeze: () => void;
  /** The tool in use; null while nothing is being drawn. */
  tool: Tool | null;
  setTool: (tool: Tool | null) => void;
  ink: Ink;
  setInk: (ink: Ink) => void;
  add: (shape: Shape) => void;
  undone: readonly Shape[];
  undo: () => void;
  redo: () => void;
  /** The comment whose drawing is shown and that is highlighted. */
  selected: string | null;
  select: (id: string | null) => void;
}

const Shared = createContext<Desk | null>(null);
export const DeskProvider = Shared.Provider;
/** The desk of the page; null on pages without one. */
export const useDesk = (): Desk | null => useContext(Shared);

/** What is drawn belongs to the frame that is shown: the marks move there, unless it is within their range. */
function movedTo(marks: Marks, at: number | null): Marks {
  const { anchor, duration } = marks;
  const isWithin = anchor !== null && at !== null && duration !== null && anchor <= at && at <= anchor + duration;
  return isWithin ? marks : { ...marks, anchor: at, duration: null };
}

export function useNewDesk(fileId: string): Desk {
  const [marks, setMarks, holdMarks] = useMarks(fileId);
  const [tool, setTool] = useState<Tool | null>(null);
  const [ink, setInk] = useState<Ink>({ color: COLORS[0].value, strokeWidth: WIDTHS[1].value });
  const [undone, setUndone] = useState<readonly Shape[]>([]);
  const [selected, select] = useState<string | null>(null);
  const position = useRef<number | null>(null);
  const pause = useRef(() => {});
  const composer = useRef<HTMLTextAreaElement>(null);
  return useMemo(() => {
    const freeze = () => {
      pause.current();
      setMarks((before) => (before.anchor === null ? { ...before, anchor: position.current } : before));
    };
    return {
      marks,
      setMarks,
      holdMarks,
      position,
      pause,
      composer,
      freeze,
      tool,
      setTool: (next: Tool | null) => {
        if (next !== null) pause.current();
        if (next !== null && tool === null) setMarks((before) => movedTo(before, position.current));
        setTool(next);
      },
      ink,
      setInk,
      add: (shape: Shape) => {
        setUndone([]);
        setMarks((before) =>
          before.shapes.length < MAX_SHAPES ? { ...before, shapes: [...before.shapes, shape] } : before,
        );
      },
      undone,
      undo: () => {
        const last = marks.shapes.at(-1);
        if (last === undefined) return;
        setUndone([...undone, last]);
        setMarks((before) => ({ ...before, shapes: before.shapes.slice(0, -1) }));
      },
      redo: () => {
        const last = undone.at(-1);
        if (last === undefined) return;
        setUndone(undone.slice(0, -1));
        setMarks((before) => ({ ...before, shapes: [...before.shapes, last] }));
      },
      selected,
      select,
    };
  }, [marks, setMarks, tool, ink, undone, selected]);
}
