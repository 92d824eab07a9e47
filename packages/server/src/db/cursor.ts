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

/** The rows of a sorted list beyond a key, up to and including another. */
export interface Range {
  order: Direction;
  from: Pick<Position, 'key' | 'inclusive'> | null;
  until?: Key | undefined;
}

/** The keys of a range. Without one, the statement has no such condition. */
type KeyParams = Params<{ from_sort?: string; from_id?: string; until_sort?: string; until_id?: string }>;

/**
 * Returns a function that reads up to `limit` rows of a range, with values whose types the caller has checked. Rows are
 * sorted by `sortBy`, a column of `table`, and by id.
 */
export function preparedRange<Given, Choice extends object, DB, Tables extends keyof DB, Row>(
  table: string,
  build: (db: Database, given: Given, choice: Choice) => SelectQueryBuilder<DB, Tables, Row>,
  sortBy: (choice: Choice) => string,
  { limit = PAGE_SIZE + 1, offset = 0 } = {},
): (db: Database, range: Range, values: object, choice: Choice) => Promise<Row[]> {
  const read = statement<[Given & KeyParams, Choice & { order: Direction; inclusive: boolean }], Row>(
    (db, given, choice) => {
      const [sort, id] = [sql.ref(`${table}.${sortBy(choice)}`), sql.ref(`${table}.id`)];
      const { from_sort: fromSort, from_id: fromId, until_sort: untilSort, until_id: untilId } = given;
      const { order, inclusive } = choice;
      const [after, before] = order === 'asc' ? ['>', '<='] : ['<', '>='];
      const compared = (operator: string, ...key: unknown[]) =>
        sql<boolean>`(${sort}, ${id}) ${sql.raw(operator)} (${sql.join(key)})`;
      let rows = build(db, given, choice);
      if (fromSort !== undefined) rows = rows.where(compared(inclusive ? `${after}=` : after, fromSort, fromId));
      if (untilSort !== undefined) rows = rows.where(compared(before, untilSort, untilId));
      rows = rows.orderBy(sort, order).orderBy(id, order).limit(limit);
      return offset === 0 ? rows : rows.offset(offset);
    },
  );
  return async (db, { order, from, until }, values, choice) => {
    const keys = { from_sort: from?.key[0], from_id: from?.key[1], until_sort: until?.[0], until_id: until?.[1] };
    const { rows } = await read(db, { ...values, ...keys }, { ...choice, order, inclusive: from?.inclusive ?? false });
    return rows;
  };
}

/**
 * Returns a function that reads one page of a query by keyset pagination, so that its cost does not depend on its distance
 * from the start.
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
  const read = preparedRange(table, build, sortBy);
  return async (db, page, values, choice) =>
    toPage(await read(db, rangeOf(page), values, choice), page, sortBy(choice));
}

const isBackwards = ({ from, startAtEnd = false }: PageRequest) =>
  from === null ? startAtEnd : from.towards === 'prev';

/** The range that a page begins. */
export const rangeOf = (page: PageRequest): Range => ({
  order: (page.direction === 'asc') === isBackwards(page) ? 'desc' : 'asc',
  from: page.from,
});

/** Returns the page of the first rows of its range: one more than a page holds, if there are as many. */
export const toPage = <Sort extends string, Row extends Record<Sort | 'id', string>>(
  rows: Row[],
  page: PageRequest,
  sort: Sort,
): CursorPage<Row> => pageOf(rows, (row) => [row[sort], row.id], page.from, isBackwards(page));

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
