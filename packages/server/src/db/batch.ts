/// <reference path="./pg-utils.d.ts" />
import pg from 'pg';
import utils from 'pg/lib/utils.js';

/** What `pg` has beyond its type declarations. */
declare module 'pg' {
  interface Connection {
    /** The texts of the prepared statements, and of those that were sent to be prepared, by name. */
    parsedStatements: Record<string, string>;
    submittedNamedStatements: Record<string, string>;
  }
  interface Query {
    /** What `pg` remembers as prepared when Postgres says so. */
    name: string;
    text: string;
    /** Settles the query. `pg` wraps it for its own timeout. */
    callback(error: Error | null, results?: BatchResult[]): void;
    handleRowDescription(message: { fields: pg.FieldDef[] }): void;
    handleDataRow(message: { fields: (string | null)[] }): void;
    handleCommandComplete(message: { text: string }): void;
    handleReadyForQuery(): void;
    handleError(error: Error, connection: Connection): void;
  }
}

export interface NamedStatement {
  name: string;
  text: string;
  values: readonly unknown[];
}

export type BatchResult = Pick<pg.QueryResult, 'command' | 'rowCount' | 'rows'>;

/** The columns of a statement, as Postgres described them. */
class Columns {
  readonly #columns: { name: string; parse: (text: string) => unknown }[];
  /** Copied for each row: the copies share a hidden class. */
  readonly #emptyRow: Record<string, unknown>;

  constructor(fields: pg.FieldDef[], client: pg.ClientBase) {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: client.getTypeParser(dataTypeID, 'text') }));
    this.#emptyRow = Object.fromEntries(fields.map(({ name }) => [name, null]));
  }

  read(texts: (string | null)[]): object {
    const row = { ...this.#emptyRow };
    let index = 0;
    for (const { name, parse } of this.#columns) {
      const text = texts[index++] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    return row;
  }
}

/** The columns of a connection's prepared statements, by name. They stay, because Postgres refuses a statement whose columns have changed. */
export type Described = Map<string, Columns>;

/** Prepared statements with one Sync, so that Postgres answers them by one write, and skips those after one that fails. */
export class Batch extends pg.Query {
  /** The benchmark counts them. */
  readonly statements: readonly NamedStatement[];

  readonly #client: pg.ClientBase;
  readonly #described: Described;
  readonly #values: (string | Buffer | null)[][];
  readonly #results: BatchResult[] = [];
  #rows: object[] = [];
  #unreadable: Error | null = null;

  constructor(
    client: pg.ClientBase,
    described: Described,
    statements: readonly NamedStatement[],
    callback: pg.Query['callback'],
  ) {
    super('');
    this.statements = statements;
    this.#client = client;
    this.#described = described;
    // Before anything is sent, because a value can be unfit.
    this.#values = statements.map(({ values }) => values.map(utils.prepareValue));
    this.callback = callback;
    this.#expectNext();
  }

  override submit = (connection: pg.Connection): void => {
    const { parsedStatements, submittedNamedStatements, stream } = connection;
    stream.cork();
    try {
      for (const [index, { name, text }] of this.statements.entries()) {
        if (parsedStatements[name] === undefined && submittedNamedStatements[name] === undefined) {
          connection.parse({ name, text, types: [] }, true);
          submittedNamedStatements[name] = text;
        }
        connection.bind({ statement: name, values: this.#values[index] }, true);
        if (!this.#described.has(name)) connection.describe({ type: 'P' }, true);
        connection.execute(null, true);
      }
      connection.sync();
    } finally {
      stream.uncork();
    }
  };

  override handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#described.set(this.name, new Columns(fields, this.#client));
  }

  override handleDataRow({ fields }: { fields: (string | null)[] }): void {
    try {
      const columns = this.#described.get(this.name);
      if (columns === undefined) throw new Error('Postgres sent a row that it has not described.');
      this.#rows.push(columns.read(fields));
    } catch (error) {
      this.#unreadable ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  override handleCommandComplete({ text }: { text: string }): void {
    // The columns of a statement without rows are none.
    if (!this.#described.has(this.name)) this.#described.set(this.name, new Columns([], this.#client));
    const [command = '', ...counts] = text.split(' ');
    this.#results.push({ command, rowCount: Number(counts.at(-1) ?? 0), rows: this.#rows });
    this.#rows = [];
    this.#expectNext();
  }

  override handleReadyForQuery(): void {
    this.callback(this.#unreadable, this.#results);
  }

  override handleError(error: Error, { submittedNamedStatements }: pg.Connection): void {
    // Postgres has not prepared those that it skipped.
    for (const { name } of this.statements.slice(this.#results.length)) delete submittedNamedStatements[name];
    this.callback(error);
  }

  #expectNext(): void {
    const next = this.statements[this.#results.length];
    if (next !== undefined) ({ name: this.name, text: this.text } = next);
  }
}
