// Computes docs/sizing.md from the figures of docs/benchmarks.md. `npm run snapshot` writes it.
import { FAMILIES } from '../packages/contract/dist/index.js';

/** What people do in the busiest hour, each. An assumption: replace it by the figures of your `/metrics`. */
const LOAD = {
  requests: {
    'get file': 120,
    'list versions': 60,
    'list 50 comments': 60,
    'get comment': 30,
    'create comment': 10,
  },
  generations: 6,
  uploadedMB: 200,
  downloadedMB: 1000,
  videoMinutes: 2,
};
const PEOPLE = 100;
const SCALES = [1, 10, 100, 1000];
/** The time of a generation at its provider. */
const GENERATION_SECONDS = 120;
/** A year has as much work as so many of the busiest hours. */
const BUSY_HOURS_PER_YEAR = 1000;
/** How much of a core may be in use in the busiest hour. */
const UTILISATION = 0.6;
const CORES_PER_HOST = 8;

// The defaults of docs/self-hosting.md.
const CONNECTIONS_PER_PROCESS = 12;
const NOTIFICATIONS_PER_PROCESS = 20;
const STREAMS_PER_PROCESS = 1000;
const GENERATIONS_PER_WORKER = 20;
const WORKER_GB = 0.8;
const SLOTS = 12;
const FAMILY_CAPS = 10 * FAMILIES.length;
const TEMPORAL_SHARDS = 512;
/** The events of a generation in Temporal. */
const TEMPORAL_EVENTS = 35;
/** The default of Postgres, without those that it reserves. */
const POSTGRES_CONNECTIONS = 97;

/** The cells of each row of a table, by the names of their columns. */
type Table = Record<string, string>[];

function readTables(text: string): Table[] {
  const blocks = text.split('\n\n').map((block) => block.split('\n').filter((line) => line.startsWith('|')));
  const cellsOf = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  return blocks.map(([heading = '', , ...lines]) => {
    const columns = cellsOf(heading);
    return lines.map((line) => Object.fromEntries(cellsOf(line).map((cell, index) => [columns[index] ?? '', cell])));
  });
}

/** Returns a reader of the numbers of a section. It reads the first row with this label in a table with all the columns. */
function figuresOf(page: string, heading: string) {
  const [, section] = page.split(`\n${heading}\n`);
  if (section === undefined) throw new Error(`docs/benchmarks.md has no section "${heading}".`);
  const rows = readTables(section.split(/\n##+ /)[0] ?? '').flat();
  return (label: string, ...columns: string[]): number[] => {
    const row = rows.find((cells) => Object.values(cells).includes(label) && columns.every((name) => name in cells));
    const numbers = columns.flatMap((name) => row?.[name]?.match(/\d+(\.\d+)?/g) ?? []).map(Number);
    if (numbers.length < columns.length)
      throw new Error(`docs/benchmarks.md has no "${label}" with ${columns.join(', ')} under "${heading}".`);
    return numbers;
  };
}

interface Cost {
  server: number;
  postgres: number;
}

/** The measured CPU seconds and memory. */
function readFigures(benchmarks: string) {
  const results = figuresOf(benchmarks, '## Results');
  const media = figuresOf(benchmarks, '### Media');
  const streams = figuresOf(benchmarks, '### Event streams');
  const request = (name: string): Cost => {
    const [server = 0, both = 0] = results(name, 'CPU µs', 'with Postgres');
    return { server: server / 1e6, postgres: (both - server) / 1e6 };
  };
  const one = (read: typeof results, label: string, column: string): number => read(label, column)[0] ?? 0;
  const jobServer = one(results, 'CPU ms per job, server', 'Postgres') / 1000;
  const [idleMB = 0, streamsMB = 0] = streams('memory before, and with the streams', 'Postgres');
  return {
    requests: Object.fromEntries(Object.keys(LOAD.requests).map((name) => [name, request(name)])),
    job: {
      server: jobServer,
      postgres: one(results, 'CPU ms per job, server and database', 'Postgres') / 1000 - jobServer,
      worker: one(results, 'CPU ms per job, worker', 'Postgres') / 1000,
      perSecond: one(results, 'jobs/s, one worker', 'Postgres'),
      transactions: one(results, 'transactions per job', 'Postgres'),
    },
    upload: one(results, 'upload', 'CPU ms/MB') / 1000,
    download: one(results, 'download', 'CPU ms/MB') / 1000,
    processMB: one(results, 'RSS after the load, MB', 'Postgres'),
    stream: {
      cores: one(streams, "CPU while idle, with the database's processes, of one core", 'Postgres') / 100 / 1000,
      MB: (streamsMB - idleMB) / 1000,
    },
    videoMinute:
      one(media, 'facts, poster, thumbnail, filmstrip and waveform', '`node-av`') +
      one(media, 'proxy, 540p', '`node-av`'),
  };
}

type Figures = ReturnType<typeof readFigures>;

/** What so many people need. */
function needsOf(people: number, figures: Figures) {
  const perSecond = (perHour: number) => (perHour * people) / 3600;
  const jobs = perSecond(LOAD.generations);
  const kinds = Object.entries(LOAD.requests).map(([name, perHour]) => ({
    rate: perSecond(perHour),
    cost: figures.requests[name] ?? { server: 0, postgres: 0 },
  }));
  const sum = (part: keyof Cost) => kinds.reduce((total, { rate, cost }) => total + rate * cost[part], 0);
  const serverCores = (sum('server') + jobs * figures.job.server + people * figures.stream.cores) / UTILISATION;
  const transferCores =
    (perSecond(LOAD.uploadedMB) * figures.upload + perSecond(LOAD.downloadedMB) * figures.download) / UTILISATION;
  const running = jobs * GENERATION_SECONDS;
  const processes = Math.max(2, Math.ceil(serverCores), Math.ceil(people / STREAMS_PER_PROCESS));
  const hosts = Math.max(2, Math.ceil(processes / CORES_PER_HOST));
  const workers = Math.max(2, Math.ceil(Math.round(running) / GENERATIONS_PER_WORKER));
  const writes = perSecond(LOAD.requests['create comment']) + jobs * figures.job.transactions;
  const notifications = Math.min(writes, processes * NOTIFICATIONS_PER_PROCESS) * processes;
  return {
    requests: kinds.reduce((total, { rate }) => total + rate, 0),
    jobs,
    running,
    serverCores,
    transferCores,
    processes,
    serverGB: (processes * figures.processMB + people * figures.stream.MB) / 1000,
    postgresCores: (sum('postgres') + jobs * figures.job.postgres) / UTILISATION,
    // A host with several processes has one more that supervises them.
    connections: (processes + hosts) * CONNECTIONS_PER_PROCESS,
    workers,
    workerCores: (jobs * figures.job.worker) / UTILISATION,
    workerGB: workers * WORKER_GB,
    mediaCores: (perSecond(LOAD.videoMinutes) * figures.videoMinute) / UTILISATION,
    comments: LOAD.requests['create comment'] * people * BUSY_HOURS_PER_YEAR,
    terabytes: (LOAD.uploadedMB * people * BUSY_HOURS_PER_YEAR) / 1e6,
    notifications,
    temporalEvents: (jobs * TEMPORAL_EVENTS) / TEMPORAL_SHARDS,
  };
}

type Needs = ReturnType<typeof needsOf>;

const ROWS: [string, keyof Needs][] = [
  ['requests/s', 'requests'],
  ['generations/s', 'jobs'],
  ['generations that run at once', 'running'],
  ['cores of the servers, without transfers', 'serverCores'],
  ['cores for transfers, with `file:` only', 'transferCores'],
  ['server processes', 'processes'],
  ['memory of the servers, GB', 'serverGB'],
  ['cores of Postgres', 'postgresCores'],
  ['connections to Postgres', 'connections'],
  ['workers, for generations', 'workers'],
  ['cores of the workers, for generations', 'workerCores'],
  ['memory of the workers, for generations, GB', 'workerGB'],
  ['cores of the workers, for renditions', 'mediaCores'],
  ['new comments per year', 'comments'],
  ['new files per year, TB', 'terabytes'],
  ['notifications/s between processes', 'notifications'],
  ['events/s per shard of Temporal', 'temporalEvents'],
];

interface Limit {
  name: string;
  /** Whether this many people are beyond it. */
  isReached(needs: Needs): boolean;
  remedy: string;
}

const limitsOf = ({ job }: Figures): Limit[] => [
  {
    name: `\`GENERATION_SLOTS\`: ${SLOTS} generations of a workspace at once`,
    isReached: ({ running }) => running > SLOTS,
    remedy: 'raise them, or have several workspaces',
  },
  {
    name: `\`FAMILY_CAPS\`: ${FAMILY_CAPS} generations of all families at once`,
    isReached: ({ running }) => running > FAMILY_CAPS,
    remedy: 'raise them as far as your accounts at the providers allow',
  },
  {
    name: 'one core for all requests: a single process, as with SQLite',
    isReached: ({ serverCores }) => serverCores > 1,
    remedy: 'Postgres with `SERVER_PROCESSES`',
  },
  {
    name: 'one core for transfers with `file:`',
    isReached: ({ transferCores }) => transferCores > 1,
    remedy: 'S3, whose bytes do not pass through the servers',
  },
  {
    name: `${POSTGRES_CONNECTIONS} connections: \`max_connections\` of Postgres by default`,
    isReached: ({ connections }) => connections > POSTGRES_CONNECTIONS,
    remedy: 'raise it, or lower `DATABASE_CONNECTIONS`; a pooler in session mode does not reduce them',
  },
  {
    name: `${CORES_PER_HOST} cores for renditions: one host with workers`,
    isReached: ({ mediaCores }) => mediaCores > CORES_PER_HOST,
    remedy: 'more workers; files can be used before their renditions are made',
  },
  {
    name: `${job.perSecond} generations/s: the measured rate with one server and one worker`,
    isReached: ({ jobs }) => jobs > job.perSecond,
    remedy: 'measure the lock of the slots, under which all processes hand out generations',
  },
  {
    name: `${CORES_PER_HOST} cores for Postgres`,
    isReached: ({ postgresCores }) => postgresCores > CORES_PER_HOST,
    remedy: 'a larger host: all writes go to one primary, and the service reads from no replica',
  },
];

/** Finds the number of people, to two digits, at which the limit is reached. */
function peopleAt(limit: Limit, figures: Figures): number {
  for (let magnitude = 1; magnitude < 1e9; magnitude *= 10)
    for (let step = 10; step < 100; step++)
      if (limit.isReached(needsOf(step * magnitude, figures))) return step * magnitude;
  return Number.POSITIVE_INFINITY;
}

const number = (value: number): string => {
  const digits = value >= 10 ? 0 : value >= 1 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
};

function table(lines: string[][]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const row = (line: string[], fill = ' ') =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`;
  const [heading = [], ...rest] = lines;
  return [
    row(heading),
    row(
      heading.map(() => ''),
      '-',
    ),
    ...rest.map((line) => row(line)),
  ].join('\n');
}

/** The content of docs/sizing.md. */
export function sizingPage(benchmarks: string): string {
  const figures = readFigures(benchmarks);
  const needs = SCALES.map((scale) => needsOf(scale * PEOPLE, figures));
  const needed = ROWS.map(([label, key]) => [label, ...needs.map((each) => number(each[key]))]);
  const limits = limitsOf(figures)
    .map((limit) => ({ ...limit, people: peopleAt(limit, figures) }))
    .toSorted((one, other) => one.people - other.people)
    .map(({ name, people, remedy }) => [number(people), name, remedy]);
  const requests = Object.entries(LOAD.requests).map(([name, perHour]) => `${perHour} × ${name}`);
  return `# Sizing

Generated by \`npm run snapshot\` from the figures of [the benchmarks](benchmarks.md): do not edit it, change \`scripts/sizing.ts\`. It is arithmetic, not a measurement: nothing larger than
the benchmarks was run. Their machine was slow: one with whole cores needs a fourth to a fifth of the cores below.

## What people do

In the busiest hour each person at work makes these requests: ${requests.join(', ')}. Each starts ${LOAD.generations} generations, which take ${GENERATION_SECONDS} seconds at their provider, uploads ${LOAD.uploadedMB} MB with ${LOAD.videoMinutes} minutes of
video, downloads ${number(LOAD.downloadedMB)} MB, and has one event stream. A year has as much work as ${number(BUSY_HOURS_PER_YEAR)} such hours. Cores are used to ${UTILISATION * 100} %. These are assumptions: compare them with
your [metrics](self-hosting.md#monitoring), and change the constants.

## What they need

${table([['', ...SCALES.map((scale) => `${number(scale * PEOPLE)} people`)], ...needed])}

Every video is assumed to get a proxy of 540p; [those that browsers can play need none](architecture.md#media). A generation that waits for its provider needs almost no
CPU time: instead of adding workers, \`WORKER_CONCURRENCY\` can be raised above its default of ${GENERATIONS_PER_WORKER}. The memory of such a worker was not measured.

## Which limit comes next

${table([['People', 'Limit', 'Then'], ...limits])}

Not measured, and so without a number:

- Rows: a benchmark (\`--full\`) compares 1,000,000 comments in a project with 1,000; more were not tried. Every list is read by an index.
- Notifications: a change wakes every process by \`NOTIFY\`, outside its transaction. A process sends at most 20 per second, which then have several changes.
- Events: the changes of one project are numbered one after the other. Projects do not wait for each other.
- Shards of Temporal: their number is fixed when its database is created. \`deploy/compose.full.yaml\` has ${TEMPORAL_SHARDS}.
- Storage: the disk or the bucket; the service has no limit for the number of objects.
`;
}
