import { type RawBuilder, sql } from 'kysely';
import { isPostgres, type Param } from './prepared.ts';
import type { Database } from './schema.ts';

/**
 * Returns operator and operand of a comparison with a list of any length, for `where(column, ...anyOf(db, list))`. The list
 * is one value, because databases limit the values of a statement, and a statement is prepared for one number of them. The
 * subselect hides the length of the list from the planner of Postgres, which would otherwise plan short lists for each execution.
 * A single item is compared like any value, which costs half.
 */
export function anyOf<T extends string>(db: Database, list: Param<readonly T[]>): ['=' | 'in', RawBuilder<T>] {
  if (list.hasOneItem) return ['=', sql<T>`${list.map(([item]) => item)}`];
  return isPostgres(db)
    ? ['=', sql<T>`any(array(select unnest(cast(${list} as text[]))))`]
    : ['in', sql<T>`(select value from json_each(${list.map((items) => JSON.stringify(items))}))`];
}
