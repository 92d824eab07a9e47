import {
  type CompiledQuery,
  type Expression,
  type KyselyPlugin,
  type OperationNodeSource,
  OperationNodeTransformer,
  PostgresAdapter,
  type QueryExecutorProvider,
  type QueryResult,
  sql,
  ValueNode,
} from 'kysely';
import { send } from './direct-reads.ts';
import { lookUp } from './look-ups.ts';
import type { Database } from './schema.ts';
import { nameStatement, RESULT_UNREAD } from './statement-names.ts';

type Values = Readonly<Record<string, unknown>>;

/** A value of a prepared statement that each execution brings. Queries can use it, but code cannot read it. */
export class Param<out T> implements Expression<T> {
  readonly read: (values: Values) => T;
  /** A list with one item, which selects another statement than longer lists. */
  readonly hasOneItem: boolean;

  constructor(read: (values: Values) => T, hasOneItem = false) {
    this.read = read;
    this.hasOneItem = hasOneItem;
  }

  /** A parameter with the result of the function, which runs at each execution. */
  map<U>(convert: (value: T) => U): Param<U> {
    return new Param((values) => convert(this.read(values)));
  }

  get expressionType(): T | undefined {
    return undefined;
  }

  toOperationNode(): ValueNode {
    return ValueNode.create(this);
  }

  toJSON(): never {
    throw new Error('A parameter has no value while its statement is built.');
  }

  [Symbol.toPrimitive](): never {
    return this.toJSON();
  }
}

/** The parameters for the fields of a record. A field that is undefined has none, and selects another statement. */
export type Params<T> = {
  [K in keyof T]: Param<Exclude<T[K], undefined>> | (undefined extends T[K] ? undefined : never);
};

/** What a caller passes for a parameter, or for a record of parameters. */
type Passed<Given> = Given extends Param<infer T> ? T : PassedFields<Given>;
export type PassedFields<Given> = {
  [K in keyof Given]: Given[K] extends Param<infer T> | undefined ? T | Extract<Given[K], undefined> : never;
};

/**
 * The arguments of a builder after the database: its parameters, and a choice between statements, such as a sort direction,
 * or several as the fields of a record. Choices have few values, because each combination has a statement.
 */
type Given = [] | [given: unknown] | [given: unknown, choice: unknown];
type Arguments<G extends Given> = G extends [infer P, infer S]
  ? [values: Passed<P>, choice: S]
  : G extends [infer P]
    ? [values: Passed<P>]
    : [];

/** A query of Kysely. */
interface Query<Row> extends OperationNodeSource {
  compile(executor: QueryExecutorProvider): CompiledQuery<Row>;
}

/**
 * Returns a function that runs a statement. Kysely builds and compiles it once for each dialect, choice, set of defined
 * values, and lists with one item. `take` makes the result of the rows and of the number of changed rows.
 */
export function prepared<G extends Given, Row, Result>(
  build: (db: Database, ...given: G) => Query<Row>,
  take: (rows: Row[], changed: number) => Result,
  sendQuery = send,
): (db: Database, ...args: Arguments<G>) => Promise<Result> {
  const run = statement(build, sendQuery);
  return async (db, ...args) => {
    // A statement about an empty list has no rows.
    if (Array.isArray(args[0]) && args[0].length === 0) return take([], 0);
    const { rows, numAffectedRows } = await run(db, args[0], args[1]);
    return take(rows, Number(numAffectedRows ?? 0n));
  };
}

type Build<G extends Given, Row> = (db: Database, ...given: G) => Query<Row>;

/** A statement that returns its rows. */
prepared.all = <G extends Given, Row>(build: Build<G, Row>) => prepared(build, (rows) => rows);

/** A statement that returns its first row, or undefined. */
prepared.first = <G extends Given, Row>(build: Build<G, Row>) => prepared(build, (rows) => rows[0]);

/**
 * A statement that finds a row by its key, and returns it, or undefined. On Postgres, outside of a transaction, those of a turn
 * of the event loop share a round trip, so they must be quick and must not wait for locks.
 */
prepared.lookUp = <G extends Given, Row>(build: Build<G, Row>) => prepared(build, (rows) => rows[0], lookUp);

/** A statement that always has a row, and returns it. */
prepared.one = <G extends Given, Row>(build: Build<G, Row>) =>
  prepared(build, ([row]) => {
    if (row === undefined) throw new Error('A statement returned no row.');
    return row;
  });

/** A statement that returns whether there is a row. */
prepared.exists = <G extends Given, Row>(build: Build<G, Row>) => prepared(build, (rows) => rows.length > 0);

/** A statement that changes rows. In a transaction on Postgres, it is sent with the next one or the commit, which fail if it fails. */
prepared.run = <G extends Given, Row>(build: Build<G, Row>) =>
  prepared(
    (db, ...given: G) =>
      isPostgres(db) ? sql<Row>`${sql.raw(RESULT_UNREAD)} ${build(db, ...given)}` : build(db, ...given),
    () => {},
  );

/** A statement that changes one row, and returns whether there was one to change. */
prepared.changed = <G extends Given, Row>(build: Build<G, Row>) => prepared(build, (_, changed) => changed === 1);

/** The filters of a list have thousands of combinations, of which people use few. */
const MAX_COMBINATIONS = 500;

/** Runs a statement with values and a choice whose types the caller has checked. */
export function statement<G extends Given, Row>(
  build: Build<G, Row>,
  sendQuery = send,
): (db: Database, values: unknown, choice: unknown) => Promise<QueryResult<Row>> {
  const [onSqlite, onPostgres] = [new Map<string, CompiledQuery<Row>>(), new Map<string, CompiledQuery<Row>>()];
  return async (db, passed, choice) => {
    const values = isRecord(passed) ? passed : { value: passed };
    const statements = isPostgres(db) ? onPostgres : onSqlite;
    const key = definedIn(values) + keyOf(choice);
    let known = statements.get(key);
    if (known === undefined) {
      known = compile(db, build, passed, choice);
      if (statements.size >= MAX_COMBINATIONS) statements.clear();
      statements.set(key, known);
    }
    const parameters = known.parameters.map((value) => (value instanceof Param ? value.read(values) : value));
    return sendQuery(db, { ...known, parameters });
  };
}

export const isPostgres = (db: Database): boolean => db.getExecutor().adapter instanceof PostgresAdapter;

function compile<G extends Given, Row>(
  db: Database,
  build: Build<G, Row>,
  passed: unknown,
  choice: unknown,
): CompiledQuery<Row> {
  const given = isRecord(passed)
    ? Object.fromEntries(
        Object.keys(passed)
          .filter((key) => passed[key] !== undefined)
          .map((key) => [key, new Param((values) => values[key], hasOneItem(passed[key]))]),
      )
    : new Param((values) => values['value'], hasOneItem(passed));
  const building = db.withPlugin(CONSTANTS);
  // The types of the parameters exist at compile time only: `Arguments` has checked the values that they are made from.
  const query = build(building, ...([given, choice] as unknown as G)).compile(building);
  nameStatement(query.sql);
  return query;
}

const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hasOneItem = (value: unknown): boolean => Array.isArray(value) && value.length === 1;

function definedIn(values: Values): string {
  let keys = '';
  for (const key in values) if (values[key] !== undefined) keys += hasOneItem(values[key]) ? `${key}=1 ` : `${key} `;
  return keys;
}

function keyOf(choice: unknown): string {
  if (!isRecord(choice)) return String(choice);
  let key = '';
  for (const field in choice) key += `${field}=${choice[field]} `;
  return key;
}

/** Writes constants into the text: the planner of a statement that is prepared once knows limits and partial indexes by it. */
class Constants extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return node.value instanceof Param ? node : { ...node, immediate: true };
  }
}

const transformer = new Constants();
const CONSTANTS = {
  transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
  transformResult: async ({ result }) => result,
} satisfies KyselyPlugin;
