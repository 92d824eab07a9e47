import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import { openDatabase } from '../src/db/open.ts';
import type { Database } from '../src/db/schema.ts';
import { bearer, Connections, requestBytes } from './load.ts';
import { type Cost, Meter, median } from './measure.ts';
import type { Seeded } from './seed.ts';
import { type Running, startServer, startWorker } from './servers.ts';
import type { Site } from './site.ts';

const CONNECTIONS = 16;
const POLL_MS = 50;
const STALL_MS = 60_000;
const Counts = z.object({ statements: z.number(), transactions: z.number() });

export interface GenerationFigures {
  /** Of the median run. */
  jobsPerSecond: number;
  /** CPU milliseconds per job. */
  server: Cost;
  worker: number;
  workerCalls: number;
  transactions: number;
  statements: number;
}

/** Measures runs of Markdown generations without the simulated duration of the sandbox: one server, one worker. */
export async function measureGeneration(
  site: Site,
  server: Running,
  { jobs, runs }: { jobs: number; runs: number },
): Promise<GenerationFigures> {
  await using opened = openDatabase(site.address, () => {});
  await using worker = await startWorker(site.folder, server);
  await using workerMeter = await Meter.open();
  await runJobs(opened.db, server, site.seeded, jobs);

  const callsBefore = await workerCalls(server);
  const seconds: number[] = [];
  let workerCost: Cost = { server: 0, total: 0 };
  const cost = await site.meter.costOf(server, async () => {
    workerCost = await workerMeter.costOf(worker, async () => {
      for (let run = 0; run < runs; run++) seconds.push(await runJobs(opened.db, server, site.seeded, jobs));
    });
  });
  const all = jobs * runs;
  const calls = (await workerCalls(server)) - callsBefore;
  await worker.stop();
  const counted = await countStatements(site, opened.db, Math.ceil(jobs / 10));
  return {
    jobsPerSecond: jobs / median(seconds),
    server: { server: cost.server / 1000 / all, total: cost.total / 1000 / all },
    worker: workerCost.server / 1000 / all,
    workerCalls: calls / all,
    ...counted,
  };
}

/** Enqueues the jobs and returns the seconds until the last has ended. Throws if one failed. */
async function runJobs(db: Database, server: Running, seeded: Seeded, jobs: number): Promise<number> {
  const body = { outputType: 'DOCUMENT', outputModel: 'markdown', prompt: 'A lamp', folder: null, attachments: [] };
  const path = `/api/projects/${seeded.writtenProjectId}/files/upload.generate`;
  using connections = await Connections.open(server.port, CONNECTIONS);
  const before = await countUploaded(db);
  const started = performance.now();
  await connections.send([requestBytes('POST', path, bearer(seeded.key), body)], jobs);
  let [open, since] = [jobs, started];
  for (;;) {
    const left = await countOpen(db);
    if (left === 0) break;
    if (left < open) [open, since] = [left, performance.now()];
    if (performance.now() - since > STALL_MS) throw new Error(`no generation ended within ${STALL_MS} ms`);
    await sleep(POLL_MS);
  }
  const seconds = (performance.now() - started) / 1000;
  if ((await countUploaded(db)) - before !== jobs) throw new Error('a generation failed; see worker.log');
  return seconds;
}

/** As a partial index says it: a look at all files took time from the processes that are measured. */
async function countOpen(db: Database): Promise<number> {
  const open = await db
    .selectFrom('generations')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(sql<boolean>`status in ('QUEUED', 'RUNNING')`)
    .executeTakeFirstOrThrow();
  return open.count;
}

async function countUploaded(db: Database): Promise<number> {
  const uploaded = await db
    .selectFrom('files')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('mode', '=', 'GENERATED')
    .where('status', '=', 'UPLOADED')
    .executeTakeFirstOrThrow();
  return uploaded.count;
}

/** The number of requests to the worker API since the server started. */
async function workerCalls(server: Running): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  const counts = metrics.matchAll(/^http_request_duration_seconds_count\{operation="worker",[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Runs jobs on another server that counts its statements, because counting costs time. */
async function countStatements(site: Site, db: Database, jobs: number) {
  const file = join(site.folder, 'statement-counts.json');
  const preload = new URL('count-statements.ts', import.meta.url);
  const settings = { NODE_OPTIONS: `--import=${preload}`, STATEMENT_COUNTS: file };
  await using server = await startServer(site.folder, site.databaseUrl, settings);
  await using _worker = await startWorker(site.folder, server);
  // The first jobs open the connections to the database.
  await runJobs(db, server, site.seeded, jobs);
  const before = await readCounts(server, file);
  await runJobs(db, server, site.seeded, jobs);
  const after = await readCounts(server, file);
  return {
    transactions: (after.transactions - before.transactions) / jobs,
    statements: (after.statements - before.statements) / jobs,
  };
}

async function readCounts(server: Running, file: string): Promise<z.infer<typeof Counts>> {
  rmSync(file, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  await server.waitUntil(async () => existsSync(file) && readFileSync(file, 'utf8').endsWith('}'));
  return Counts.parse(JSON.parse(readFileSync(file, 'utf8')));
}
