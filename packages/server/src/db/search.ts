import { setImmediate } from 'node:timers/promises';
import { PAGE_SIZE } from '@review/contract';
import { type AliasedRawBuilder, type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import { anyOf } from './any-of.ts';
import { type CursorPage, type PageRequest, preparedRange, rangeOf, toPage } from './cursor.ts';
import { containing, fold } from './fold.ts';
import { isPostgres, type Param, type Params, type PassedFields, statement } from './prepared.ts';
import type { Database, Schema } from './schema.ts';

/** The rows that a search reads in order before it asks the index, if none of them matches. */
const FIRST_SLICE = 200;
/** The rows that it reads in order at once after that. */
const SLICE = 1000;
/** The number of matches up to which it is cheaper to sort them all than to read the table in order. */
export const MAX_CANDIDATES = 1000;

/** The tables with a search index, and the column of each that limits a search to one owner. */
const SCOPES = { projects: 'workspace_id', files: 'project_id' } as const;
type Searched = keyof typeof SCOPES;

/** The primary keys of all tables with a search index. */
const KEYS = { projects: 'id', files: 'id', comments: 'id', generations: 'file_id' } as const;

/** Rows that change often are not in the index of Postgres, which would compute their trigrams with each change. Their texts are compared. */
const NOT_INDEXED: Partial<Record<keyof typeof KEYS, RawBuilder<boolean>>> = {
  generations: sql`status in ('QUEUED', 'RUNNING')`,
};

/** What a query reads instead of a table: the table, or the rows of it that may contain the keyword. */
export type Source<T extends Searched> = AliasedRawBuilder<Selectable<Schema[T]>, T>;

export const wholeTable = <T extends Searched>(table: T): Source<T> =>
  sql<Selectable<Schema[T]>>`${sql.table(table)}`.as(table);

/** The limit keeps both databases from merging the look-up of the rows with the conditions and the order of the query. */
const rowsAmong = <T extends Searched>(db: Database, table: T, ids: Param<readonly string[]>): Source<T> => {
  const [operator, operand] = anyOf(db, ids);
  return sql<Selectable<Schema[T]>>`(select * from ${sql.table(table)} where id ${sql.raw(operator)} ${operand}
    limit ${sql.lit(MAX_CANDIDATES)})`.as(table);
};

type Keyword = { keyword?: string | undefined };
type SearchParams = Params<Keyword & { candidates?: readonly string[] }>;

/**
 * Returns a function that reads one page of a query, by keyset pagination, of all rows or of those whose `folded_text`
 * contains a keyword. A frequent keyword fills the page from the first rows in order, and a rare one has few matches in
 * the index. What is between them, or matches only far from the start, is read in order, a slice at a time.
 */
export function preparedSearch<
  T extends Searched,
  Given,
  Choice extends object,
  DB,
  Tables extends keyof DB,
  Sort extends string,
  Row extends Record<Sort | 'id', string>,
>(
  table: T,
  build: (db: Database, given: Given, choice: Choice, source: Source<T>) => SelectQueryBuilder<DB, Tables, Row>,
  sortBy: (choice: Choice) => Sort,
  scopeOf: (values: PassedFields<Given>) => string,
): (
  db: Database,
  page: PageRequest,
  values: PassedFields<Given> & Keyword,
  choice: Choice,
) => Promise<CursorPage<Row>> {
  const read = preparedRange(
    table,
    (db, given: Given & SearchParams, choice: Choice) => {
      const { keyword, candidates } = given;
      const source = candidates === undefined ? wholeTable(table) : rowsAmong(db, table, candidates);
      const rows = build(db, given, choice, source);
      if (keyword === undefined) return rows;
      return rows.where(sql<boolean>`${sql.ref(`${table}.folded_text`)} like ${keyword.map(containing)} escape '\\'`);
    },
    sortBy,
  );
  const sliceEnd = (length: number) =>
    preparedRange(
      'slice',
      (db, { scope }: Params<{ scope: string }>, choice: Choice) =>
        db
          .selectFrom(sql<{ id: string }>`${sql.table(table)}`.as('slice'))
          .where(sql.ref(SCOPES[table]), '=', scope)
          .select(['id', sql.ref<string>(sortBy(choice)).as('sort')]),
      sortBy,
      { limit: 1, offset: length - 1 },
    );
  const [readFirstSliceEnd, readSliceEnd] = [sliceEnd(FIRST_SLICE), sliceEnd(SLICE)];
  const findCandidates = candidateFinder(table);

  return async (db, page, values, choice) => {
    const range = rangeOf(page);
    const pageWith = (rows: Row[]) => toPage(rows, page, sortBy(choice));
    if (values.keyword === undefined) return pageWith(await read(db, range, values, choice));
    const scope = scopeOf(values);
    const rows: Row[] = [];
    let isIndexAsked = false;
    for (let { from } = range, slices = 0; ; slices += 1) {
      const readEnd = slices === 0 ? readFirstSliceEnd : readSliceEnd;
      const [end] = await readEnd(db, { ...range, from }, { scope }, choice);
      const until = end && ([end.sort, end.id] as const);
      rows.push(...(await read(db, { ...range, from, until }, values, choice)));
      if (until === undefined || rows.length > PAGE_SIZE) return pageWith(rows.slice(0, PAGE_SIZE + 1));
      from = { key: until, inclusive: false };
      if (!isIndexAsked && (rows.length === 0 || slices > 0)) {
        isIndexAsked = true;
        const candidates = await findCandidates(db, values.keyword);
        if (candidates !== null) return pageWith(await read(db, range, { ...values, candidates }, choice));
      }
      // SQLite answers synchronously: other requests run between two slices.
      await setImmediate();
    }
  };
}

/** A trigram starts at each character of a text. */
const TRIGRAM = 3;

/**
 * Returns a function that finds the ids of all rows that may contain the keyword, or null if they are too many. The statement has no
 * condition on other columns that have an index, because Postgres could take that one instead.
 */
export function candidateFinder(
  table: keyof typeof KEYS,
): (db: Database, keyword: string) => Promise<readonly string[] | null> {
  const [key, notIndexed] = [sql.ref(KEYS[table]), NOT_INDEXED[table]];
  const [rows, search, terms] = ['_search_rows', '_search', '_search_terms'].map((suffix) => sql.table(table + suffix));
  const onPostgres = (folded: Param<string>) => {
    const all = sql`select ${key} as id from ${sql.table(table)}`;
    const indexed = sql`search_trigrams(folded_text) @@ cast(${folded.map(tsqueryOf)} as tsquery)`;
    if (notIndexed === undefined) return sql`${all} where ${indexed}`;
    return sql`${all} where not (${notIndexed}) and ${indexed}
      union all ${all} where ${notIndexed} and folded_text like ${folded.map(containing)} escape '\\'`;
  };
  const find = statement<[Param<string>, 'terms' | 'prefix'], { id: string }>((db, folded, by) => {
    const found = isPostgres(db)
      ? onPostgres(folded)
      : by === 'terms'
        ? sql`select entry.id from ${search} cross join ${rows} as entry on entry.number = ${search}.rowid
            where ${search} match ${folded.map(matchOf)}`
        : sql`select distinct entry.id from ${terms} as term cross join ${rows} as entry on entry.number = term.doc
            where term.term between ${folded.map(asStored)} and ${folded.map((prefix) => `${asStored(prefix)}${LAST}${LAST}`)}`;
    return sql<{ id: string }>`${found} limit ${sql.lit(MAX_CANDIDATES + 1)}`;
  });
  return async (db, keyword) => {
    const folded = fold(keyword);
    const by = [...folded].length < TRIGRAM ? 'prefix' : 'terms';
    const { rows: found } = await find(db, folded, by);
    return found.length > MAX_CANDIDATES ? null : found.map(({ id }) => id);
  };
}

/** The last character in byte order. */
const LAST = '\u{10FFFF}';
/** SQLite reads the two last code points of the basic plane as the replacement character, in LIKE as well. */
const asStored = (text: string) => text.replace(/[\uFFFE\uFFFF]/g, '\uFFFD');

/** Every second trigram and the last one, which cover each two adjacent characters. All of them would cost Postgres twice as much. */
function trigramsOf(text: string): string[] {
  const letters = [...text];
  const last = letters.length - TRIGRAM;
  const trigrams = letters.flatMap((_, at) =>
    at <= last && (at % 2 === 0 || at === last) ? [letters.slice(at, at + TRIGRAM).join('')] : [],
  );
  return [...new Set(trigrams)];
}

const matchOf = (text: string): string =>
  trigramsOf(text)
    .map((trigram) => `"${trigram.replaceAll('"', '""')}"`)
    .join(' AND ');

function tsqueryOf(text: string): string {
  const quoted = (term: string) => `'${term.replace(/['\\]/g, '$&$&')}'`;
  const trigrams = trigramsOf(text);
  return trigrams.length === 0 ? `${quoted(text)}:*` : trigrams.map(quoted).join(' & ');
}
