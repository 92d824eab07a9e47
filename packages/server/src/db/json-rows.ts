import { type RawBuilder, sql } from 'kysely';
import { isPostgres, type Param } from './prepared.ts';
import type { Database } from './schema.ts';

/** The records of a list of any length as rows with the columns `item` (JSON) and `number` (from 1), for the FROM of a statement. */
export const jsonRows = (db: Database, list: Param<readonly object[]>): RawBuilder<unknown> => {
  const json = list.map((records) => JSON.stringify(records));
  return isPostgres(db)
    ? sql`json_array_elements(${json}::json) with ordinality as listed (item, number)`
    : sql`(select value as item, key + 1 as number from json_each(${json})) as listed`;
};
