import { type Direction, PAGE_SIZE } from '@review/contract';
import { type SelectQueryBuilder, sql } from 'kysely';
import { type Params, type PassedFields, statement } from './prepared.ts';
import type { Database } from './schema.ts';

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

/** The key of the position that a page starts from. Without one, the statement has no such condition. */
type KeyParams = Params<{ page_sort?: string; page_id?: string }>;
interface Scan {
  order: Direction;
  comparison: '>' | '>=' | '<' | '<=';
}

/**
 * Returns a function that reads one page of a query by keyset pagination, so that its cost does not depend on its distance
 * from the start. Rows are sorted by `sortBy`, a column of `table`, and by their id.
 */
export function preparedPages<
  Given,
  Choice extends object,
  DB,
  Tables extends keyof DB,
  Sort extends string,
  Row extends Record<Sort | 'id', string>,
>(
  table: string,
  build: (db: Database, given: Given, choice: Choice) => SelectQueryBuilder<DB, Tables, Row>,
  sortBy: (choice: Choice) => Sort,
): (db: Database, page: PageRequest, values: PassedFields<Given>, choice: Choice) => Promise<CursorPage<Row>> {
  const read = statement<[Given & KeyParams, Choice & Scan], Row>((db, given, scan) => {
    const [sort, id] = [sql.ref(`${table}.${sortBy(scan)}`), sql.ref(`${table}.id`)];
    const { page_sort: fromSort, page_id: fromId } = given;
    const all = build(db, given, scan);
    const after = sql<boolean>`(${sort}, ${id}) ${sql.raw(scan.comparison)} (${fromSort}, ${fromId})`;
    return (fromSort === undefined ? all : all.where(after))
      .orderBy(sort, scan.order)
      .orderBy(id, scan.order)
      .limit(PAGE_SIZE + 1);
  });
  return async (db, { direction, from, startAtEnd = false }, values, choice) => {
    const backwards = from === null ? startAtEnd : from.towards === 'prev';
    const order = (direction === 'asc') === backwards ? 'desc' : 'asc';
    const beyond = order === 'asc' ? '>' : '<';
    const scan = { ...choice, order, comparison: from?.inclusive ? `${beyond}=` : beyond };
    const { rows } = await read(db, { ...values, page_sort: from?.key[0], page_id: from?.key[1] }, scan);
    const keyOf = (row: Row): Key => [row[sortBy(choice)], row.id];
    return pageOf(rows, keyOf, from, backwards);
  };
}

function pageOf<Row>(
  rows: Row[],
  keyOf: (row: Row) => Key,
  from: Position | null,
  backwards: boolean,
): CursorPage<Row> {
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
