import { type RawBuilder, sql } from 'kysely';

/**
 * The operand of an `in` that holds any number of ids in one bind variable: databases limit how many variables a statement
 * has. The ids are the keys of a JSON object, which `json_each` lists on both databases.
 */
export const anyOf = (ids: readonly string[]): RawBuilder<string> =>
  sql<string>`(select key from json_each(${JSON.stringify(Object.fromEntries(ids.map((id) => [id, 0])))}))`;
