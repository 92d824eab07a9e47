import type { CommentPin, FileDetails, Shape } from '@review/contract';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { usePins } from '../../comments/pins.ts';
import { commentQuery } from '../../comments/queries.ts';
import type { Desk } from '../../review/desk.tsx';
import { shapesOf } from '../../review/drawing/read-annotation.ts';

const MAX_DRAWINGS = 10;
const NONE: readonly Shape[] = [];

/**
 * The shapes to show: those that are being drawn, and those of the comments for which `isHere` is true. A selected comment that has a
 * drawing here is shown alone.
 */
export function useShownShapes(
  file: FileDetails,
  desk: Desk | null,
  isHere: (place: Pick<CommentPin, 'anchor' | 'duration'>) => boolean,
): readonly Shape[] {
  const pins = usePins(file);
  const here = pins.filter((pin) => pin.drawn && isHere(pin));
  const chosen = here.filter(({ id }) => id === desk?.selected);
  const isDrawing = desk?.tool != null;
  const shown = isDrawing ? [] : chosen.length > 0 ? chosen : here.filter(({ resolved }) => !resolved);
  const stored = useQueries({
    queries: shown.slice(0, MAX_DRAWINGS).map(({ id }) => ({ ...commentQuery(id), staleTime: 60_000 })),
    combine: (results) => results.flatMap(({ data }) => (data === undefined ? [] : [data.annotation])),
  });
  const own = desk !== null && (isDrawing || isHere(desk.marks)) ? desk.marks.shapes : NONE;
  return useMemo(() => [...stored.flatMap(shapesOf), ...own], [stored, own]);
}
