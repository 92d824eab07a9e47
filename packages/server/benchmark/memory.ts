// `node packages/server/benchmark/memory.ts --requests 1000000`: sends mixed requests over 16 connections to the built server and
// prints its resident memory. Exits with 1 if that exceeds the target or grows. docs/benchmarks.md explains the figures.
import { parseArgs } from 'node:util';
import { Connections } from './load.ts';
import { residentMegabytes } from './measure.ts';
import { requestsOf } from './rounds.ts';
import type { Seeded } from './seed.ts';
import { startServer } from './servers.ts';
import { createOwnSite } from './site.ts';
import { MEMORY_TARGETS, ROWS } from './targets.ts';

const CONNECTIONS = 16;
const SAMPLES = 20;
const ROWS_SEEDED = 1000;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    postgres: { type: 'boolean', default: false },
  },
});
const count = Number(values.requests);
if (!(Number.isInteger(count) && count >= SAMPLES))
  throw new Error(`--requests must be a number of at least ${SAMPLES}`);

/** One request of each kind in turn; every `get comment` is for another comment. */
function mixedRequests(seeded: Seeded): Buffer[] {
  const kinds = ROWS.map((row) => requestsOf(row, seeded));
  const turns = Math.max(...kinds.map((requests) => requests.length));
  return Array.from({ length: turns }, (_, turn) =>
    kinds.flatMap((requests) => requests.slice(turn % requests.length, (turn % requests.length) + 1)),
  ).flat();
}

async function measure(disposed: AsyncDisposableStack): Promise<boolean> {
  const site = await createOwnSite(values.postgres, ROWS_SEEDED, disposed);
  const server = disposed.use(await startServer(site.folder, site.databaseUrl));
  const requests = mixedRequests(site.seeded);
  using connections = await Connections.open(server.port, CONNECTIONS);
  console.log(
    `${values.postgres ? 'Postgres' : 'SQLite'}, ${CONNECTIONS} connections; RSS when ready: ${residentMegabytes(server.pid).toFixed(0)} MB\n`,
  );
  console.log('| requests | RSS, MB |\n| --- | --- |');
  const samples: number[] = [];
  for (let sample = 1; sample <= SAMPLES; sample++) {
    await connections.send(requests, Math.round(count / SAMPLES));
    const resident = residentMegabytes(server.pid);
    samples.push(resident);
    console.log(`| ${Math.round((count / SAMPLES) * sample)} | ${resident.toFixed(0)} |`);
  }
  const peak = Math.max(...samples);
  const half = Math.max(...samples.slice(0, SAMPLES / 2));
  const growth = Math.max(...samples.slice(SAMPLES / 2)) / half;
  const { megabytes, growth: maxGrowth } = MEMORY_TARGETS;
  console.log(
    `\npeak ${peak.toFixed(0)} MB (target ${megabytes}), second half to first ${growth.toFixed(2)} (target ${maxGrowth})`,
  );
  return peak <= megabytes && growth <= maxGrowth;
}

await using disposed = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void disposed.disposeAsync().finally(() => process.exit(130)));
}
process.exitCode = (await measure(disposed)) ? 0 : 1;
