// `npm run benchmark`: measures the service beside the fair server and prints a report in Markdown. Exits with 1 if a target
// is missed. docs/benchmarks.md explains the figures.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../src/test/postgres.ts';
import { type BytesComparison, compareBytes } from './bytes.ts';
import { measureGeneration } from './generation.ts';
import { median, residentMegabytes } from './measure.ts';
import { measurePeer, readPeer } from './peer.ts';
import { checksOf, peerChecksOf, peerReport, type Results, report } from './report.ts';
import { type Comparison, compare, type Extent, requestsOf, requireSameAnswers } from './rounds.ts';
import { addSearchedRows, measureSearch, type SearchFigures } from './search.ts';
import { type Running, startFairServer, startServer, startStreamServer } from './servers.ts';
import { createSite, type Site } from './site.ts';
import { type Check, ROWS, type RowName } from './targets.ts';

const FULL_ROWS = 1_000_000;
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    rows: { type: 'string' },
    peer: { type: 'string' },
  },
});
const SMALL_ROWS = 1000;
const largeRows = values.rows === undefined ? (values.full ? FULL_ROWS : null) : Number(values.rows);
if (largeRows !== null && !(Number.isInteger(largeRows) && largeRows >= SMALL_ROWS && largeRows <= 2 * FULL_ROWS))
  throw new Error('--rows must be a number from 1000 to 2000000');

const PLAN = values.quick
  ? {
      extent: { warmUp: 100, rounds: 1, alone: 50, together: 100 },
      generations: { jobs: 15, runs: 1 },
      starts: 1,
      megabytes: 16,
      transfers: 1,
      searched: 5000,
      searches: 3,
    }
  : {
      extent: { warmUp: 3000, rounds: 30, alone: 60, together: 200 },
      generations: { jobs: 600, runs: 3 },
      starts: 3,
      megabytes: 64,
      transfers: 15,
      searched: 100_000,
      searches: 40,
    };

const started = performance.now();
const progress = (text: string) =>
  console.error(`benchmark: ${((performance.now() - started) / 1000).toFixed(0).padStart(3)} s  ${text}`);

/** A page costs several times as much as the other requests. */
const extentOf = (row: RowName): Extent =>
  row === 'list 50 comments'
    ? { ...PLAN.extent, alone: PLAN.extent.alone / 2, together: PLAN.extent.together / 2 }
    : PLAN.extent;

async function measureDatabase(folder: string, postgresUrl: string | null): Promise<Results> {
  const dialect = postgresUrl === null ? 'sqlite' : 'postgres';
  await using disposed = new AsyncDisposableStack();
  const site = await createSite(folder, postgresUrl, SMALL_ROWS, disposed);
  progress(`${dialect}: start`);
  const { server, ready } = await measureStart(site);
  disposed.use(server);
  const fair = disposed.use(await startFairServer(site.folder, site.databaseUrl));
  await requireSameAnswers(site.seeded, server, fair);
  const comparisons: Comparison[] = [];
  for (const row of ROWS) {
    progress(`${dialect}: ${row}`);
    const requests = requestsOf(row, site.seeded);
    const sideOf = (side: Running) => ({ server: side, meter: site.meter, requests });
    comparisons.push(await compare(row, sideOf(server), sideOf(fair), extentOf(row)));
  }
  const memory = { ours: residentMegabytes(server.pid), fair: residentMegabytes(fair.pid) };
  progress(`${dialect}: generation`);
  const generation = await measureGeneration(site, server, PLAN.generations);
  const growth = largeRows === null ? null : await measureGrowth(folder, postgresUrl, largeRows, site, server);
  const search = await measureSearches(folder, postgresUrl);
  const bytes = dialect === 'sqlite' ? await measureBytes(site, server) : [];
  return { dialect, comparisons, generation, ready, memory, growth, search, bytes };
}

/** Starts the server several times on a migrated database. Returns the last and the median of the seconds until ready. */
async function measureStart({ folder, databaseUrl }: Site): Promise<{ server: Running; ready: number }> {
  const times: number[] = [];
  for (;;) {
    const before = performance.now();
    const server = await startServer(folder, databaseUrl);
    times.push((performance.now() - before) / 1000);
    if (times.length === PLAN.starts) return { server, ready: median(times) };
    await server.stop();
  }
}

async function measureGrowth(
  folder: string,
  postgresUrl: string | null,
  rows: number,
  small: Site,
  smallServer: Running,
): Promise<{ rows: number; comparisons: Comparison[] }> {
  await using disposed = new AsyncDisposableStack();
  progress(`inserting ${rows} comments`);
  const large = await createSite(folder, postgresUrl, rows, disposed);
  const server = disposed.use(await startServer(large.folder, large.databaseUrl));
  const comparisons: Comparison[] = [];
  for (const row of ['list 50 comments', 'get comment'] as const) {
    progress(`${row} with ${rows} comments`);
    const subject = { server, meter: large.meter, requests: requestsOf(row, large.seeded) };
    const baseline = { server: smallServer, meter: small.meter, requests: requestsOf(row, small.seeded) };
    comparisons.push(await compare(row, subject, baseline, extentOf(row)));
  }
  return { rows, comparisons };
}

async function measureSearches(folder: string, postgresUrl: string | null): Promise<SearchFigures[]> {
  await using disposed = new AsyncDisposableStack();
  progress(`search in ${PLAN.searched} projects and files`);
  const site = await createSite(folder, postgresUrl, SMALL_ROWS, disposed);
  await addSearchedRows(site.address, site.seeded.projectId, PLAN.searched);
  const server = disposed.use(await startServer(site.folder, site.databaseUrl));
  return await measureSearch(site, server, PLAN.searches);
}

async function measureBytes({ folder, seeded, meter }: Site, server: Running): Promise<BytesComparison[]> {
  progress('upload and download');
  await using bare = await startStreamServer(folder);
  return await compareBytes(server, bare, seeded, meter, { megabytes: PLAN.megabytes, rounds: PLAN.transfers });
}

async function benchmark(disposed: AsyncDisposableStack): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'review-benchmark-'));
  disposed.defer(() => rmSync(folder, { recursive: true, force: true }));
  const startDatabase = async () => {
    const server = await startPostgres({ durable: true });
    disposed.defer(server.stop);
    return server.url;
  };
  const checks =
    values.peer === undefined ? await all(folder, startDatabase) : await beside(values.peer, folder, startDatabase);
  if (values.quick) progress('quick run: the figures mean nothing, and no target is enforced');
  return checks.every(({ met }) => met) || values.quick ? 0 : 1;
}

type StartDatabase = () => Promise<string>;

async function all(folder: string, startDatabase: StartDatabase): Promise<Check[]> {
  const sqlite = await measureDatabase(folder, null);
  const results = [sqlite, await measureDatabase(folder, await startDatabase())];
  const checks = checksOf(results);
  console.log(report(results, checks));
  return checks;
}

async function beside(file: string, folder: string, startDatabase: StartDatabase): Promise<Check[]> {
  const peer = readPeer(file);
  const dialect = peer.postgres === undefined ? 'sqlite' : 'postgres';
  const comparisons = await measurePeer(
    folder,
    dialect === 'sqlite' ? null : await startDatabase(),
    peer,
    extentOf,
    progress,
  );
  const checks = peerChecksOf(dialect, comparisons);
  console.log(peerReport(dialect, comparisons, checks));
  return checks;
}

await using disposed = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void disposed.disposeAsync().finally(() => process.exit(130)));
}
process.exitCode = await benchmark(disposed);
