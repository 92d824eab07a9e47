import { shallowEqual } from '@mantine/hooks';
import { defaultRangeExtractor, type Range, useWindowVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type ReactNode, type Ref, useLayoutEffect, useRef, useState } from 'react';

/** The attributes of an item, which make it part of the list. */
export interface Place {
  ref: Ref<HTMLLIElement> | undefined;
  'data-index': number;
  'aria-posinset': number;
  'aria-setsize': number;
  style: CSSProperties;
  onFocus: () => void;
  onPointerDown: () => void;
}

interface LongListProps<Item> {
  label: string;
  className: string | undefined;
  items: readonly Item[];
  children: (item: Item, place: Place) => ReactNode;
}

/** Rows above and below those in view. */
const OVERSCAN = 6;
/** The height of a row before one is measured. */
const ROW_PX = 70;

/** With fractions, because the rounding of many rows adds up. */
const heightOf = (row: Element) => row.getBoundingClientRect().height;

/**
 * A list, or a CSS grid, that scrolls with the page and of which only the items near the view are in the document. The item that was
 * focused or pressed last stays there, because the focus, an open dialog or a drag would end with it; so do its neighbours, for Tab.
 */
export function LongList<Item extends { id: string }>(props: LongListProps<Item>) {
  const { label, className, items, children } = props;
  const list = useRef<HTMLUListElement>(null);
  const { columns, gap, top, rowPx } = useLayout(list);
  const held = useRef<string | null>(null);
  const extract = (range: Range) => {
    const row = Math.floor(items.findIndex(({ id }) => id === held.current) / columns);
    const beside = row < 0 ? [] : [row - 1, row, row + 1].filter((each) => each >= 0 && each < range.count);
    return [...new Set([...defaultRangeExtractor(range), ...beside])].sort((a, b) => a - b);
  };
  const virtual = useWindowVirtualizer({
    count: Math.ceil(items.length / columns),
    estimateSize: () => rowPx,
    measureElement: heightOf,
    getItemKey: (row) => items[row * columns]?.id ?? row,
    overscan: OVERSCAN,
    gap,
    scrollMargin: top,
    rangeExtractor: extract,
  });
  useLayoutEffect(() => virtual.measure(), [columns, rowPx]);

  const rows = virtual.getVirtualItems();
  const shown = rows.flatMap((row, position) => {
    const before = rows[position - 1];
    const space = row.start - (before === undefined ? top : before.end + gap);
    return items.slice(row.index * columns, (row.index + 1) * columns).map((item, column) => {
      const index = row.index * columns + column;
      const hold = () => {
        held.current = item.id;
      };
      return children(item, {
        ref: column === 0 ? virtual.measureElement : undefined,
        'data-index': row.index,
        'aria-posinset': index + 1,
        'aria-setsize': items.length,
        style: { marginTop: space },
        onFocus: hold,
        onPointerDown: hold,
      });
    });
  });
  const rest = top + virtual.getTotalSize() - (rows.at(-1)?.end ?? top);
  return (
    <ul ref={list} className={className} aria-label={label} style={{ paddingBottom: rest, overflowAnchor: 'none' }}>
      {shown}
    </ul>
  );
}

/** What the style sheet and the rest of the page make of a list. Rows are as high as one of them until they are measured. */
function useLayout(list: { current: HTMLUListElement | null }) {
  const [layout, setLayout] = useState({ columns: 1, gap: 0, top: 0, rowPx: ROW_PX });
  const read = () => {
    if (list.current === null) return;
    const row = list.current.lastElementChild;
    const { gridTemplateColumns, rowGap } = getComputedStyle(list.current);
    const columns = gridTemplateColumns === 'none' ? 1 : gridTemplateColumns.split(' ').length;
    const gap = Number.parseFloat(rowGap) || 0;
    const top = Math.round(list.current.getBoundingClientRect().top + window.scrollY);
    setLayout((now) => {
      const isMeasured = now.rowPx !== ROW_PX && now.columns === columns;
      const next = { columns, gap, top, rowPx: isMeasured || row === null ? now.rowPx : heightOf(row) };
      return shallowEqual(next, now) ? now : next;
    });
  };
  useLayoutEffect(read);
  useLayoutEffect(() => {
    if (list.current === null) return;
    const observer = new ResizeObserver(read);
    observer.observe(list.current);
    return () => observer.disconnect();
  }, []);
  return layout;
}
