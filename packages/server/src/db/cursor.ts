import { type Direction, PAGE_SIZE } from '@review/contract';
import { type SelectQueryBuilder, sql } from 'kysely';

/** The sort value of an item and its id as a tie-breaker. */
export type Key = readonly [sort: string, id: string];

/** A position in a list and the direction to read from it. */
export interface Position {
  towards: 'next' | 'prev';
  key: Key;
  /** Whether the page includes the item at the position. */
  inclusive: boolean;
}

export interface PageRequest {
  direction: Direction;
  from: Position | null;
  /** Without a position, return the last page instead of the first. */
  startAtEnd?: boolean;
}

export interface CursorPage<Item> {
  items: Item[];
  next: Position | null;
  prev: Position | null;
}

/** Returns one page of a query by keyset pagination, so that its cost does not depend on its distance from the start. */
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
    // No item is left beyond the cursor: the way back includes the item that the cursor was made from.
    return from && { towards, key: from.key, inclusive: true };
  };
  const onwards = hasMore ? at(backwards ? 'prev' : 'next', backwards ? items[0] : items.at(-1)) : null;
  const back = from === null ? null : at(backwards ? 'next' : 'prev', backwards ? items.at(-1) : items[0]);
  return { items, next: backwards ? back : onwards, prev: backwards ? onwards : back };
}
