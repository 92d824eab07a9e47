import { availableParallelism, cpus } from 'node:os';
import type { BytesComparison } from './bytes.ts';
import type { GenerationFigures } from './generation.ts';
import type { Comparison, Figures } from './rounds.ts';
import type { SearchFigures } from './search.ts';
import {
  atLeast,
  atMost,
  BYTES_TARGET,
  type Check,
  type Dialect,
  PEER_TARGETS,
  SEARCH_TARGET_MS,
  TARGETS,
} from './targets.ts';

/** The results on one database. */
export interface Results {
  dialect: Dialect;
  comparisons: Comparison[];
  generation: GenerationFigures;
  /** Seconds from the start of the process to readiness. */
  ready: number;
  /** Resident memory after the load, in MB. */
  memory: { ours: number; fair: number };
  growth: { rows: number; comparisons: Comparison[] } | null;
  search: SearchFigures[];
  /** Measured once: the storage does not depend on the database. */
  bytes: BytesComparison[];
}

const TITLES: Record<Dialect, string> = { sqlite: 'SQLite', postgres: 'Postgres' };

/** On Postgres both must meet the target: the server alone, and with the processes of the database. */
const worst = (cost: Figures['cpu']) => Math.max(cost.server, cost.total);

/** Every figure that has a target, with that target. */
export const checksOf = (results: Results[]): Check[] => results.flatMap(databaseChecks);

function databaseChecks({ dialect, comparisons, generation, ready, growth, search, bytes }: Results): Check[] {
  const targets = TARGETS[dialect];
  const title = (what: string) => `${TITLES[dialect]}: ${what}`;
  const checks: Check[] = [];
  for (const { row, ratio } of comparisons) {
    const [alone, together] = [targets.cpu[row], targets.cpuAt16[row]];
    if (alone !== undefined) checks.push(atMost(title(`${row}, CPU to fair`), worst(ratio.cpu), alone));
    if (together !== undefined)
      checks.push(atMost(title(`${row}, CPU to fair at 16 connections`), worst(ratio.cpuAt16), together));
    checks.push(atMost(title(`${row}, p99 to fair at 16 connections`), ratio.p99, targets.p99));
  }
  checks.push(
    atLeast(title('jobs per second'), generation.jobsPerSecond, targets.jobsPerSecond),
    atMost(title('worker calls per job'), generation.workerCalls, targets.workerCallsPerJob),
    atMost(title('transactions per job'), generation.transactions, targets.transactionsPerJob),
    atMost(title('statements per job'), generation.statements, targets.statementsPerJob),
    atMost(title('ready, seconds'), ready, targets.readySeconds),
  );
  for (const { row, ratio } of growth?.comparisons ?? [])
    checks.push(atMost(title(`${row}, CPU to that with few rows`), worst(ratio.cpu), targets.growth));
  for (const { keyword, projects, files } of search)
    checks.push(atMost(title(`search for a keyword ${keyword}, ms`), Math.max(projects, files), SEARCH_TARGET_MS));
  for (const { direction, ratio } of bytes)
    checks.push(atLeast(`${direction}, MB/s to a bare stream`, ratio, BYTES_TARGET));
  return checks;
}

/** Returns the report as Markdown. */
export function report(results: Results[], checks: Check[]): string {
  return [
    heading(),
    ...results.flatMap((result) => [`${TITLES[result.dialect]}:`, requestTable(result)]),
    ...results.flatMap(({ dialect, growth }) =>
      growth ? [`${TITLES[dialect]}, ${growth.rows} comments beside 1,000:`, growthTable(growth.comparisons)] : [],
    ),
    'Search by keyword:',
    searchTable(results),
    bytesTable(results.flatMap(({ bytes }) => bytes)),
    serviceTable(results),
    outcome(checks),
  ].join('\n\n');
}

/** The database's processes count, because products share the work with their database in different ways. */
export const peerChecksOf = (dialect: Dialect, comparisons: Comparison[]): Check[] =>
  comparisons.flatMap(({ row, ratio }) => {
    const target = dialect === 'postgres' ? PEER_TARGETS[row] : undefined;
    return target === undefined ? [] : [atMost(`${row}, CPU to the peer`, ratio.cpu.total, target)];
  });

export const peerReport = (dialect: Dialect, comparisons: Comparison[], checks: Check[]): string =>
  [
    heading(),
    `The service beside a peer on ${TITLES[dialect]}:`,
    table(
      ['', 'CPU µs', 'peer', 'ratio', 'with the database', 'peer', 'ratio', 'p99 ms at 16', 'peer'],
      comparisons.map(({ row, subject, baseline, ratio }) => [
        row,
        ...cells(subject.cpu.server, baseline.cpu.server, ratio.cpu.server),
        ...cells(subject.cpu.total, baseline.cpu.total, ratio.cpu.total),
        subject.p99.toFixed(1),
        baseline.p99.toFixed(1),
      ]),
    ),
    outcome(checks),
  ].join('\n\n');

function heading(): string {
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${availableParallelism()} ${process.arch} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`;
  return `${date}, ${machine}, Node ${process.versions.node}`;
}

function outcome(checks: Check[]): string {
  const missed = checks.filter(({ met }) => !met);
  return missed.length === 0 ? `All ${checks.length} targets are met.` : missedTable(missed, checks.length);
}

function requestTable({ dialect, comparisons }: Results): string {
  const targets = TARGETS[dialect];
  const withDatabase = dialect === 'postgres';
  const head = ['', 'CPU µs', 'fair', 'ratio', ...(withDatabase ? ['with Postgres', 'fair', 'ratio'] : []), 'target'];
  return table(
    [...head, 'ratio at 16', 'p50 ms at 16', 'fair', 'p99 ms at 16', 'fair', 'ratio'],
    comparisons.map(({ row, subject, baseline, ratio }) => [
      row,
      ...cells(subject.cpu.server, baseline.cpu.server, ratio.cpu.server),
      ...(withDatabase ? cells(subject.cpu.total, baseline.cpu.total, ratio.cpu.total) : []),
      targets.cpu[row]?.toString() ?? '',
      worst(ratio.cpuAt16).toFixed(2),
      subject.p50.toFixed(1),
      baseline.p50.toFixed(1),
      subject.p99.toFixed(1),
      baseline.p99.toFixed(1),
      ratio.p99.toFixed(2),
    ]),
  );
}

const cells = (ours: number, fair: number, ratio: number) => [ours.toFixed(0), fair.toFixed(0), ratio.toFixed(2)];

const growthTable = (comparisons: Comparison[]) =>
  table(
    ['', 'CPU µs', 'with 1,000', 'ratio', 'p99 ms at 16', 'with 1,000'],
    comparisons.map(({ row, subject, baseline, ratio }) => [
      row,
      ...cells(subject.cpu.total, baseline.cpu.total, worst(ratio.cpu)),
      subject.p99.toFixed(1),
      baseline.p99.toFixed(1),
    ]),
  );

const searchTable = (results: Results[]) =>
  table(
    [
      'keyword',
      ...results.flatMap(({ dialect }) => ['projects', 'files'].map((of) => `${TITLES[dialect]}, ${of}, ms`)),
      'target',
    ],
    (results[0]?.search ?? []).map(({ keyword }, index) => [
      keyword,
      ...results.flatMap(({ search }) =>
        [search[index]?.projects, search[index]?.files].map((ms) => ms?.toFixed(1) ?? ''),
      ),
      String(SEARCH_TARGET_MS),
    ]),
  );

const bytesTable = (bytes: BytesComparison[]) =>
  table(
    ['', 'MB/s', 'bare stream', 'ratio', 'target', 'CPU ms/MB', 'bare stream'],
    bytes.map(({ direction, ours, bare, ratio }) => [
      direction,
      ...cells(ours.speed, bare.speed, ratio),
      String(BYTES_TARGET),
      ours.cpu.toFixed(2),
      bare.cpu.toFixed(2),
    ]),
  );

function serviceTable(results: Results[]): string {
  const line = (name: string, value: (result: Results) => number, digits: number, target?: (of: Dialect) => number) => [
    name,
    ...results.flatMap((result) => [value(result).toFixed(digits), target ? String(target(result.dialect)) : '']),
  ];
  return table(
    ['', ...results.flatMap(({ dialect }) => [TITLES[dialect], 'target'])],
    [
      line(
        'jobs/s, one worker',
        ({ generation }) => generation.jobsPerSecond,
        1,
        (of) => TARGETS[of].jobsPerSecond,
      ),
      line('CPU ms per job, server', ({ generation }) => generation.server.server, 1),
      line('CPU ms per job, server and database', ({ generation }) => generation.server.total, 1),
      line('CPU ms per job, worker', ({ generation }) => generation.worker, 1),
      line(
        'worker calls per job',
        ({ generation }) => generation.workerCalls,
        1,
        (of) => TARGETS[of].workerCallsPerJob,
      ),
      line(
        'transactions per job',
        ({ generation }) => generation.transactions,
        1,
        (of) => TARGETS[of].transactionsPerJob,
      ),
      line(
        'statements per job',
        ({ generation }) => generation.statements,
        1,
        (of) => TARGETS[of].statementsPerJob,
      ),
      line(
        'ready, s',
        ({ ready }) => ready,
        2,
        (of) => TARGETS[of].readySeconds,
      ),
      line('RSS after the load, MB', ({ memory }) => memory.ours, 0),
      line('RSS of the fair server, MB', ({ memory }) => memory.fair, 0),
    ],
  );
}

const missedTable = (missed: Check[], count: number) =>
  `${missed.length} of ${count} targets are missed:\n\n${table(
    ['missed', 'measured', 'target'],
    missed.map(({ name, value, target }) => [name, value.toFixed(2), String(target)]),
  )}`;

/** Returns a Markdown table whose columns are aligned. */
function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
