import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Program } from '../e2e/processes.ts';
import { Service } from '../e2e/service.ts';
import { createDatabase, startPostgres } from '../packages/server/src/test/postgres.ts';
import { Ledger } from './drill-ledger.ts';
import { Load } from './drill-load.ts';
import { freePort } from './free-port.ts';
import { findGrowth, HEADINGS, rowOf, type Sample } from './soak-report.ts';

const MINUTE_MS = 60_000;
/** A shorter soak has intervals of less than a minute. */
const MIN_INTERVALS = 10;
/** Below this, the start of the processes counts too much. */
const MIN_JUDGED_MINUTES = 10;
const SAMPLE_MS = 1000;
const SETTINGS = {
  GENERATION_QUEUE_LIMIT: '100000',
  LOG_LEVEL: 'warn',
  // Those of the image of the server.
  NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=1024',
};

interface Watched {
  name: string;
  program: Program;
  milliseconds: number[];
}

/**
 * Runs two servers and two workers on Postgres under mixed load without faults, and prints the memory, handles and latencies of each
 * process for every minute. Returns the exit code: 1 if memory or handles grow, or if a call fails.
 */
export async function soak(minutes: number): Promise<number> {
  await using resources = new AsyncDisposableStack();
  const postgres = await startPostgres({ durable: true });
  resources.defer(postgres.stop);
  const database = resources.use(await createDatabase(postgres.url, 'template0'));
  const service = resources.use(await Service.start({ ...SETTINGS, DATABASE_URL: database.url }));
  const secondPort = await freePort();
  const urls = [service.url, `http://127.0.0.1:${secondPort}`];
  const second = await service.startServer({ PORT: secondPort, PUBLIC_URL: urls[1] ?? '' });
  const servers = [service.server, second].flatMap((program, index): Watched[] =>
    program === null ? [] : [{ name: `server-${index}`, program, milliseconds: [] }],
  );
  const workers: Watched[] = [];
  for (const [index, url] of urls.entries()) {
    const name = `worker-${index}`;
    workers.push({
      name,
      program: await service.startWorker(name, { SERVER_URL: url, NODE_OPTIONS: '' }),
      milliseconds: [],
    });
  }

  const over = new AbortController();
  const loads = urls.map((url, index) => {
    const client = service.clientAt(url, { fetch: timed(servers[index]?.milliseconds ?? []) });
    return { url, load: new Load(client, service.projectId, new Ledger(), over.signal) };
  });
  const running = Promise.all(loads.map(({ url, load }) => load.run(url, service.key)));

  const intervals: Sample[][] = [];
  const count = Math.max(MIN_INTERVALS, Math.round(minutes));
  const intervalMs = (minutes * MINUTE_MS) / count;
  for (let number = 1; number <= count; number++) {
    const samples = await watch([...servers, ...workers], performance.now() + intervalMs);
    intervals.push(samples);
    console.log(`soak: ${((number * intervalMs) / MINUTE_MS).toFixed(1)} of ${minutes} minutes`);
    console.log([HEADINGS, ...samples.map(rowOf)].join('\n'));
  }
  over.abort();
  await running;

  const failed = loads.flatMap(({ load }) => [...load.seen.failedCalls]);
  for (const [what, times] of failed) console.log(`soak: ${times} x failed: ${what}`);
  const growth = findGrowth(intervals);
  for (const found of growth) console.log(`soak: ${found}`);
  if (minutes < MIN_JUDGED_MINUTES) console.log(`soak: growth counts from ${MIN_JUDGED_MINUTES} minutes on`);
  else if (growth.length === 0) console.log('soak: memory and handles are steady');
  return failed.length > 0 || (minutes >= MIN_JUDGED_MINUTES && growth.length > 0) ? 1 : 0;
}

/** A `fetch` that adds the duration of each request, except those that ask the server to wait. */
const timed =
  (milliseconds: number[]): typeof fetch =>
  async (input, init) => {
    const started = performance.now();
    const response = await fetch(input, init);
    if (!String(input).includes('wait=')) milliseconds.push(performance.now() - started);
    return response;
  };

/** Samples the processes until that time. */
async function watch(watched: readonly Watched[], until: number): Promise<Sample[]> {
  for (const { milliseconds } of watched) milliseconds.length = 0;
  const samples = watched.map(({ name }): Sample => ({ process: name, rssBytes: 0, handles: 0, milliseconds: [] }));
  do {
    for (const [index, { program }] of watched.entries()) {
      program.assertRunning();
      const sample = samples[index];
      const { pid } = program.child;
      if (sample === undefined || pid === undefined) continue;
      sample.rssBytes = Math.max(sample.rssBytes, await rssOf(pid));
      sample.handles = Math.max(sample.handles, (await readdir(`/proc/${pid}/fd`)).length);
    }
    await sleep(Math.max(0, Math.min(SAMPLE_MS, until - performance.now())));
  } while (performance.now() < until);
  return samples.map((sample, index) => ({ ...sample, milliseconds: [...(watched[index]?.milliseconds ?? [])] }));
}

async function rssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}
