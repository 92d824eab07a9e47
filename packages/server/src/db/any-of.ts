import { type RawBuilder, sql } from 'kysely';

/**
 * Returns an operand of `in` with any number of ids in one bind variable, because databases limit the variables of a
 * statement. The ids are the keys of a JSON object, which `json_each` lists on both databases.
 */
export const anyOf = (ids: readonly string[]): RawBuilder<string> =>
  sql<string>`(select key from json_each(${JSON.stringify(Object.fromEntries(ids.map((id) => [id, 0])))}))`;
