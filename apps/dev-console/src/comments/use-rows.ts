import type { CommentRecord } from '@review/contract';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef } from 'react';

interface Pages {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  isFetching: boolean;
  fetchNextPage: () => unknown;
  fetchPreviousPage: () => unknown;
}

const ESTIMATED_PX = 120;
/** So many rows before an end of the list, the next page is loaded. */
const AHEAD = 8;

/** The rows of a long list that are in view. Loads further pages, and keeps the place when rows are added or dropped above. */
export function useRows(comments: readonly CommentRecord[], query: Pages) {
  const list = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: comments.length,
    getScrollElement: () => list.current,
    estimateSize: () => ESTIMATED_PX,
    getItemKey: (index) => comments[index]?.id ?? index,
    overscan: 5,
  });
  const rows = virtual.getVirtualItems();
  const [first, last] = [rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0];
  const seen = useRef<{ id: string; above: number } | null>(null);

  const head = comments[0]?.id;
  useLayoutEffect(() => {
    const { id, above } = seen.current ?? { id: undefined, above: 0 };
    const index = comments.findIndex((comment) => comment.id === id);
    const row = index < 0 ? undefined : virtual.measurementsCache[index];
    if (row !== undefined && list.current !== null) list.current.scrollTop = row.start + above;
  }, [head]);

  useEffect(() => {
    const top = virtual.scrollOffset ?? 0;
    const row = rows.find(({ end }) => end > top);
    const comment = row && comments[row.index];
    seen.current = row === undefined || comment === undefined ? null : { id: comment.id, above: top - row.start };
  });

  useEffect(() => {
    if (query.isFetching || comments.length === 0) return;
    if (query.hasNextPage && last >= comments.length - AHEAD) query.fetchNextPage();
    else if (query.hasPreviousPage && first < AHEAD) query.fetchPreviousPage();
  }, [first, last, comments.length, query.isFetching]);

  return {
    list,
    rows,
    height: virtual.getTotalSize(),
    measure: virtual.measureElement,
    /** Scrolls to a comment, if it is loaded. */
    show(id: string) {
      const index = comments.findIndex((comment) => comment.id === id);
      if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' });
    },
  };
}
