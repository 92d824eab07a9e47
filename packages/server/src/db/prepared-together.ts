import { type CompiledQuery, type OperationNodeSource, type QueryExecutorProvider, sql } from 'kysely';
import { isPostgres, type PassedFields, statement } from './prepared.ts';
import type { Database } from './schema.ts';

/** A query of Kysely that can be part of another. */
interface ListQuery<Row> extends OperationNodeSource {
  compile(executor: QueryExecutorProvider): CompiledQuery<Row>;
}

/**
 * Returns a function that reads several lists with the same values. On Postgres one statement returns them as JSON, because
 * round trips cost more; on SQLite each has a statement. The columns are text, numbers that JavaScript has, or null.
 */
export function preparedTogether<Given, Rows extends object>(
  lists: {
    [Name in keyof Rows]: (db: Database, given: Given) => ListQuery<Rows[Name]>;
  },
): (db: Database, values: PassedFields<Given>) => Promise<{ [Name in keyof Rows]: Rows[Name][] }> {
  type Found = { [Name in keyof Rows]: Rows[Name][] };
  const names: (keyof Rows & string)[] = [];
  for (const name in lists) names.push(name);
  const readAll = statement<[Given], Found>((db, given) => {
    const asJson = (name: keyof Rows & string) =>
      sql`(select coalesce(json_agg(list), '[]') from (${lists[name](db, given)}) as list) as ${sql.id(name)}`;
    return sql<Found>`select ${sql.join(names.map(asJson))}`;
  });
  const readOne = names.map((name) => [name, statement<[Given], Rows[typeof name]>(lists[name])] as const);
  return async (db, values) => {
    if (isPostgres(db)) {
      const [found] = (await readAll(db, values, undefined)).rows;
      if (found === undefined) throw new Error('A statement returned no row.');
      return found;
    }
    const found: Partial<Found> = {};
    for (const [name, read] of readOne) found[name] = (await read(db, values, undefined)).rows;
    return found as Found;
  };
}
