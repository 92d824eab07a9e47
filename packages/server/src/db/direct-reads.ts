import type { Statement } from 'better-sqlite3';
import type { CompiledQuery, QueryResult } from 'kysely';
import type { Database } from './schema.ts';

interface File {
  readonly inTransaction: boolean;
}

/**
 * Runs statements that return rows without a queue while no transaction is open: SQLite answers at once, and what waits in the
 * queue has not begun.
 */
export class DirectReads {
  readonly #file: File;
  readonly #prepare: (text: string) => Statement;

  constructor(file: File, prepare: (text: string) => Statement) {
    this.#file = file;
    this.#prepare = prepare;
  }

  /** Returns undefined if the statement has to wait, or returns no rows. */
  read<Row>({ sql, parameters }: CompiledQuery<Row>): QueryResult<Row> | undefined {
    if (this.#file.inTransaction) return undefined;
    const statement = this.#prepare(sql);
    if (!statement.reader || !statement.readonly) return undefined;
    // The type of the rows exists at compile time only: that of the query.
    return { rows: statement.all(parameters) as Row[] };
  }
}

const readsOf = new WeakMap<object, DirectReads>();

export function readDirectly(db: Database, reads: DirectReads): void {
  readsOf.set(db.getExecutor(), reads);
}

export async function send<Row>(db: Database, query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
  return readsOf.get(db.getExecutor())?.read(query) ?? db.executeQuery(query);
}
