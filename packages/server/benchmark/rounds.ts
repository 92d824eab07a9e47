import { deepStrictEqual } from 'node:assert/strict';
import { bearer, Connections, percentile, requestBytes } from './load.ts';
import { type Cost, type Measured, type Meter, median } from './measure.ts';
import type { Seeded } from './seed.ts';
import type { Running } from './servers.ts';
import { ROWS, type RowName } from './targets.ts';

const CONNECTIONS = 16;

/** How many requests a run sends. */
export interface Extent {
  warmUp: number;
  rounds: number;
  /** Per round, over one connection. */
  alone: number;
  /** Per round, over 16 connections. */
  together: number;
}

/** Medians over all rounds. CPU times are in microseconds per request, latencies in milliseconds. */
export interface Figures {
  cpu: Cost;
  cpuAt16: Cost;
  p50: number;
  p99: number;
}

export interface Comparison {
  row: RowName;
  subject: Figures;
  baseline: Figures;
  /** Medians of the ratios of subject to baseline within a round, which other load on the machine changes less. */
  ratio: Figures;
}

const CONTENT = 'The light in the second shot is too cold; see the reference from last week.'.padEnd(400, ' .');

export function requestsOf(row: RowName, seeded: Seeded): Buffer[] {
  const { key, projectId, writtenProjectId, fileId, commentIds } = seeded;
  const request = (method: string, path: string, body?: unknown) => requestBytes(method, path, bearer(key), body);
  switch (row) {
    case 'list 50 comments':
      return [request('QUERY', `/api/projects/${projectId}/comments`, { sort: { direction: 'desc' } })];
    case 'get comment':
      return commentIds.map((id) => request('GET', `/api/comments/${id}`));
    case 'create comment':
      return [request('POST', `/api/projects/${writtenProjectId}/comments`, { content: CONTENT })];
    case 'get file':
      return [request('GET', `/api/files/${fileId}`)];
    case 'list versions':
      return [request('GET', `/api/projects/${projectId}/versions`)];
    case 'ping':
      return [request('GET', '/api/ping')];
  }
}

/** Throws unless both servers return the same data, apart from cursors and new ids. */
export async function requireSameAnswers(seeded: Seeded, one: Running, other: Running): Promise<void> {
  using first = await Connections.open(one.port, 1);
  using second = await Connections.open(other.port, 1);
  for (const row of ROWS.filter((name) => name !== 'create comment')) {
    const [request] = requestsOf(row, seeded);
    if (request === undefined) throw new Error(`${row} has no request`);
    deepStrictEqual(dataOf(await second.read(request)), dataOf(await first.read(request)), `${row}: answers differ`);
  }
}

const dataOf = (answer: unknown): unknown =>
  typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined;

interface Side {
  server: Measured & { port: number };
  meter: Meter;
  requests: Buffer[];
}

/** Warms both servers up, then measures them in alternating rounds. */
export async function compare(row: RowName, subject: Side, baseline: Side, extent: Extent): Promise<Comparison> {
  using ours = await Connections.open(subject.server.port, CONNECTIONS);
  using theirs = await Connections.open(baseline.server.port, CONNECTIONS);
  const sides: Pair<Connected> = [
    { ...subject, connections: ours },
    { ...baseline, connections: theirs },
  ];
  for (const { connections, requests } of sides) await connections.send(requests, extent.warmUp);

  const rounds: Pair<Figures>[] = [];
  for (let round = 0; round < extent.rounds; round++) {
    const isReversed = round % 2 === 1;
    // Right after each other: the speed of a shared machine changes within a fraction of a second.
    const alone = await alternate(sides, isReversed, (side) => measureAlone(side, extent.alone));
    const together = await alternate(sides, isReversed, (side) => measureTogether(side, extent.together));
    rounds.push([
      { ...alone[0], ...together[0] },
      { ...alone[1], ...together[1] },
    ]);
  }
  return {
    row,
    subject: medianFigures(rounds.map(([figures]) => figures)),
    baseline: medianFigures(rounds.map(([, figures]) => figures)),
    ratio: medianFigures(rounds.map(([one, other]) => dividedBy(one, other))),
  };
}

type Pair<T> = [T, T];
type Connected = Side & { connections: Connections };

async function alternate<T>(
  [first, second]: Pair<Connected>,
  isReversed: boolean,
  measure: (side: Connected) => Promise<T>,
) {
  if (!isReversed) return [await measure(first), await measure(second)] as const;
  const last = await measure(second);
  return [await measure(first), last] as const;
}

async function measureAlone({ server, meter, requests, connections }: Connected, count: number) {
  const cpu = await meter.costOf(server, () => connections.send(requests, count, 1));
  return { cpu: perRequest(cpu, count) };
}

async function measureTogether({ server, meter, requests, connections }: Connected, count: number) {
  let latencies: number[] = [];
  const cpuAt16 = await meter.costOf(server, async () => {
    latencies = await connections.send(requests, count);
  });
  return { cpuAt16: perRequest(cpuAt16, count), p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

const perRequest = ({ server, total }: Cost, count: number): Cost => ({ server: server / count, total: total / count });

const dividedBy = (one: Figures, other: Figures): Figures => ({
  cpu: { server: one.cpu.server / other.cpu.server, total: one.cpu.total / other.cpu.total },
  cpuAt16: { server: one.cpuAt16.server / other.cpuAt16.server, total: one.cpuAt16.total / other.cpuAt16.total },
  p50: one.p50 / other.p50,
  p99: one.p99 / other.p99,
});

function medianFigures(all: Figures[]): Figures {
  const of = (pick: (figures: Figures) => number) => median(all.map(pick));
  return {
    cpu: { server: of(({ cpu }) => cpu.server), total: of(({ cpu }) => cpu.total) },
    cpuAt16: { server: of(({ cpuAt16 }) => cpuAt16.server), total: of(({ cpuAt16 }) => cpuAt16.total) },
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
  };
}
