import { type Direction, PAGE_SIZE } from '@review/contract';
import { type SelectQueryBuilder, sql } from 'kysely';

/** What an item is sorted by, and its id, which settles ties. */
export type Key = readonly [sort: string, id: string];

/** A place in a list, and which way to read from it. */
export interface Position {
  towards: 'next' | 'prev';
  key: Key;
  /** The item at the place itself belongs to the page. */
  inclusive: boolean;
}

export interface PageRequest {
  direction: Direction;
  from: Position | null;
  /** Without a position, show the last page of the order instead of the first. */
  startAtEnd?: boolean;
}

export interface CursorPage<Item> {
  items: Item[];
  next: Position | null;
  prev: Position | null;
}

/** One page of a query in the asked order, found by key: its cost does not grow with its distance from the start. */
export async function takePage<DB, Tables extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Tables, Row>,
  columns: { sort: string; id: string },
  keyOf: (row: Row) => Key,
  { direction, from, startAtEnd = false }: PageRequest,
): Promise<CursorPage<Row>> {
  const backwards = from === null ? startAtEnd : from.towards === 'prev';
  const scan = (direction === 'asc') === backwards ? 'desc' : 'asc';
  const comparison = sql.raw((scan === 'asc' ? '>' : '<') + (from?.inclusive ? '=' : ''));
  const [sort, id] = [sql.ref(columns.sort), sql.ref(columns.id)];
  const rows = await query
    .$if(from !== null, (all) =>
      all.where(sql<boolean>`(${sort}, ${id}) ${comparison} (${from?.key[0]}, ${from?.key[1]})`),
    )
    .orderBy(sort, scan)
    .orderBy(id, scan)
    .limit(PAGE_SIZE + 1)
    .execute();
  const hasMore = rows.length > PAGE_SIZE;
  const items = rows.slice(0, PAGE_SIZE);
  if (backwards) items.reverse();

  const at = (towards: Position['towards'], row: Row | undefined): Position | null => {
    if (row !== undefined) return { towards, key: keyOf(row), inclusive: false };
    // Everything beyond the cursor is gone: the way back includes the item it was made from.
    return from && { towards, key: from.key, inclusive: true };
  };
  const onwards = hasMore ? at(backwards ? 'prev' : 'next', backwards ? items[0] : items.at(-1)) : null;
  const back = from === null ? null : at(backwards ? 'next' : 'prev', backwards ? items.at(-1) : items[0]);
  return { items, next: backwards ? back : onwards, prev: backwards ? onwards : back };
}
