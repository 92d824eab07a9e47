import { contract, EVENT_STREAM, QUERY, type Room } from '@review/contract';
import { CompiledQuery, sql } from 'kysely';
import { expect, test } from 'vitest';
import { subjectOf } from '../test/access.ts';
import { type House, json, onEachDatabase, type PersonName } from '../test/house.ts';
import { sentWhile } from '../test/sent-statements.ts';
import { statementName } from './statement-names.ts';

/** What may be read as a whole: tables that do not grow, and the rows that a recursive query has found. */
const MAY_BE_SCANNED = new Set(['workers', 'paused_families', 'shown']);

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

/** The body of lists that need one, by path. */
const NEEDED: Record<string, object> = { '/api/search': { keyword: 'a' } };

/** Queries of lists beside the default one, by path. */
const LISTS: Record<string, object[]> = {
  '/api/projects': [
    { sort: { type: 'name', direction: 'asc' } },
    { sort: { type: 'createdAt', direction: 'desc' } },
    { sort: { type: 'updatedAt', direction: 'desc' } },
  ],
  '/api/projects/:id/comments': [{ resolved: true }, { resolved: false }, { sort: { direction: 'desc' } }],
  '/api/files/:id/comments': [{ sort: { type: 'anchor' } }, { sort: { type: 'anchor' }, resolved: false }],
  '/api/projects/:id/activity': [{ types: ['file.created'] }, { actor: { id: UNKNOWN } }, { subject: { id: UNKNOWN } }],
  '/api/search': [{ keyword: 'A project' }],
  '/api/webhooks/:id/deliveries': [{ status: 'FAILED' }],
  '/api/projects/:id/files': [
    { folder: null },
    { sort: { type: 'name', direction: 'asc' } },
    { sort: { type: 'name', direction: 'desc' }, folder: null, keyword: 'a' },
    { status: 'UPLOADED', tag: 'NEED_REVIEW', keyword: 'a' },
    { duration: { min: 1, max: 2 }, resolution: { min: 1, max: 2 } },
    { duration: { min: 1 }, keyword: 'a' },
  ],
};

const READS = Object.values<Room>(contract)
  .flatMap((room) => Object.values(room))
  .filter(({ method }) => method === 'GET' || method === QUERY);

const addressOf = (path: string, id: string) => path.replace(':id', id) + (path.endsWith('/events') ? '?after=0' : '');

/** Reads a stream up to its first event, because it sends its statements while it is read. */
async function endStream(answer: Response): Promise<void> {
  if (!answer.headers.get('content-type')?.startsWith(EVENT_STREAM)) return;
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += new TextDecoder().decode(chunk);
    if (text.includes('event: ')) return;
  }
}

/** Returns the tables that a statement reads as a whole. */
async function scansOf({ deps: { db }, dialect }: House, { sql: text, parameters }: CompiledQuery): Promise<string[]> {
  const onSqlite = dialect === 'sqlite';
  const lines = await db.transaction().execute(async (trx) => {
    // The tables of a test are too small for an index to pay.
    if (!onSqlite) await sql`set local enable_seqscan = off`.execute(trx);
    const plan = CompiledQuery.raw(`explain ${onSqlite ? 'query plan' : ''} ${text}`, [...parameters]);
    const { rows } = await trx.executeQuery<Record<string, unknown>>(plan);
    return rows.flatMap((row) => Object.values(row).map(String));
  });
  const scan = onSqlite ? /^SCAN (?!.*VIRTUAL TABLE)(\w+)/ : /Seq Scan on (\w+)/;
  return lines.flatMap((line) => scan.exec(line)?.[1] ?? []).filter((name) => !MAY_BE_SCANNED.has(name));
}

onEachDatabase((house) => {
  test.each(READS)('$method $path sends prepared statements only, and they use indexes', async ({ method, path }) => {
    const { deps } = house();
    const { id } = await subjectOf(house(), { method, path });
    const ask = (person: PersonName, body = {}) =>
      house().request(person, method, addressOf(path, id), method === QUERY ? json({ ...NEEDED[path], ...body }) : {});
    const answers: Response[] = [];
    const statements = await sentWhile(deps.db, async () => {
      answers.push(await ask('owner'), await ask('restricted'));
      for (const body of LISTS[path] ?? []) answers.push(await ask('owner', body));
      for (const answer of answers) await endStream(answer);
    });
    const sent = new Map(statements.map((query) => [query.sql, query]));
    expect(answers.map((answer) => answer.status).filter((status) => status >= 400 && status !== 403)).toEqual([]);
    for (const query of sent.values()) {
      expect(statementName(query.sql), query.sql).toBeDefined();
      expect(await scansOf(house(), query), query.sql).toEqual([]);
    }
  });
});
