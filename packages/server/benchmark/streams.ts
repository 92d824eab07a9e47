// `node packages/server/benchmark/streams.ts`: opens idle event streams of as many keys at the built server, and prints their cost in
// memory and CPU time, and how long a change takes to reach all of them. docs/benchmarks.md explains the figures.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '@review/client';
import { SCOPES } from '@review/contract';
import { issueKey } from '../src/credentials/issue.ts';
import { openDatabase } from '../src/db/open.ts';
import { median, residentMegabytes } from './measure.ts';
import { startServer } from './servers.ts';
import { createOwnSite, type Site } from './site.ts';

const IDLE_SECONDS = 20;
const CHANGES = 20;

const { values } = parseArgs({
  options: { streams: { type: 'string', default: '1000' }, postgres: { type: 'boolean', default: false } },
});
const count = Number(values.streams);
if (!(Number.isInteger(count) && count >= 1)) throw new Error('--streams must be a number of at least 1');

/** Issues one key per stream, because a credential may open only a part of a server's streams. */
async function issueKeys({ address, seeded }: Site): Promise<string[]> {
  await using opened = openDatabase(address, () => {});
  const member = opened.db
    .selectFrom('project_members')
    .innerJoin('projects', 'projects.id', 'project_members.project_id')
    .select(['user_id', 'workspace_id'])
    .where('project_id', '=', seeded.projectId);
  const { user_id: userId, workspace_id: workspaceId } = await member.executeTakeFirstOrThrow();
  const keys: string[] = [];
  while (keys.length < count) {
    keys.push((await issueKey(opened.db, { workspaceId, userId, scopes: SCOPES })).key);
  }
  return keys;
}

async function openStream(url: string, key: string, agent: Agent): Promise<IncomingMessage> {
  const call = request(url, { agent, headers: { authorization: `Bearer ${key}` } }).end();
  const [response]: IncomingMessage[] = await once(call, 'response');
  if (response?.statusCode !== 200) throw new Error(`a stream was refused with ${response?.statusCode}`);
  // The first chunk has the position.
  await once(response, 'data');
  return response;
}

await using disposed = new AsyncDisposableStack();
const site = await createOwnSite(values.postgres, 1000, disposed);
const keys = await issueKeys(site);
const server = disposed.use(
  await startServer(site.folder, site.databaseUrl, { EVENT_STREAM_LIMIT: String(Math.max(count, 1000)) }),
);
const idle = () => site.meter.costOf(server, () => sleep(IDLE_SECONDS * 1000));
const before = { resident: residentMegabytes(server.pid), cpu: await idle() };

const agent = new Agent();
disposed.defer(() => agent.destroy());
const { projectId, key } = site.seeded;
const streams: IncomingMessage[] = [];
for (const own of keys) streams.push(await openStream(`${server.url}/api/projects/${projectId}/events`, own, agent));
const cpu = await idle();
const after = { resident: residentMegabytes(server.pid), cpu };

const client = createClient({ baseUrl: server.url, token: key });
const reached: number[] = [];
const fanOut = await site.meter.costOf(server, async () => {
  for (let change = 0; change < CHANGES; change++) {
    const received = Promise.all(streams.map((stream) => once(stream, 'data')));
    const started = performance.now();
    await client.comments.create({ params: { id: projectId }, body: { content: 'Good.' } });
    await received;
    reached.push(performance.now() - started);
  }
});
const percent = (microseconds: number) => `${(microseconds / IDLE_SECONDS / 10_000).toFixed(1)} %`;
console.log(`${values.postgres ? 'Postgres' : 'SQLite'}, ${count} streams of ${count} keys\n
| | before | with the streams |
| --- | --- | --- |
| memory | ${before.resident.toFixed(0)} MB | ${after.resident.toFixed(0)} MB |
| CPU while idle, with the database's processes, of one core | ${percent(before.cpu.total)} | ${percent(after.cpu.total)} |
| one change until the last stream has it, median of ${CHANGES} | | ${median(reached).toFixed(0)} ms |
| CPU of one change | | ${(fanOut.total / CHANGES / 1000).toFixed(0)} ms |`);
for (const stream of streams) stream.destroy();
