// Kills server and workers at random while files are generated, then counts the outcome of every accepted file.
// Runs on this host with its own data.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Service, sha256 } from '../e2e/service.ts';
import { TemporalServer } from '../e2e/temporal-server.ts';
import { items } from '../packages/client/dist/index.js';
import type { FileRecord, Model } from '../packages/contract/dist/index.js';
import { isJob, openDoubles, openVendor, type Providers } from './chaos-providers.ts';

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '300' },
    kills: { type: 'string', default: '60' },
    workers: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    engine: { type: 'string', default: 'embedded' },
    providers: { type: 'string', default: 'vendor' },
  },
});
const [jobs, kills, workers] = [wholeNumber('jobs'), wholeNumber('kills'), wholeNumber('workers')];
const random = seeded(Number(values.seed));

/** Slightly longer than a process needs to start, so that work is done between kills. */
const MAX_BETWEEN_KILLS_MS = 3000;
const MIN_BETWEEN_KILLS_MS = 200;
/** Generations that are open after this time without progress count as left running. */
const SETTLE_SECONDS = 150;

async function chaos(): Promise<number> {
  const { engine, providers: kind, seed } = values;
  console.log(`chaos: ${engine}, ${kind}, ${jobs} jobs, ${kills} kills, ${workers} workers, seed ${seed}`);
  const started = Date.now();
  // Temporal is never killed: its own durability is not under test.
  await using temporal = values.engine === 'temporal' ? await TemporalServer.start() : null;
  await using providers = await (kind === 'doubles' ? openDoubles(random) : openVendor(random));
  const settings = {
    ...providers.settings,
    GENERATION_QUEUE_LIMIT: '100000',
    GENERATION_SLOTS: 'DOCUMENT=20,IMAGE=20,VIDEO=20,3D=20',
    RECONCILE_SECONDS: '5',
    LOG_LEVEL: 'fatal',
  };
  await using service = await Service.start(settings, temporal ? { temporal } : {});
  const keepers = Array.from({ length: workers }, (_, index) => new Keeper(service, `worker-${index}`));
  await Promise.all(keepers.map((keeper) => keeper.start()));

  const killing = killAtRandom(service, keepers);
  const span = kills * ((MAX_BETWEEN_KILLS_MS + MIN_BETWEEN_KILLS_MS) / 2);
  const asking = Array.from({ length: jobs }, async (_, index) => {
    const [after, model, canceled] = [
      random() * span,
      providers.models[index % providers.models.length],
      random() < 0.05,
    ];
    await sleep(after);
    const id = await post(service, index, model);
    if (id !== null && canceled) await service.client.files.cancel({ params: { id } }).catch(() => {});
    return id;
  });
  const killed = await killing;
  const accepted = (await Promise.all(asking)).filter((id) => id !== null);
  const counts = await takeStock(service, providers, accepted);
  console.log(`chaos: ${killed} kills in ${Math.round((Date.now() - started) / 1000)} s`);
  console.log(
    Object.entries({ 'not accepted': jobs - accepted.length, ...counts })
      .map(([name, count]) => `  ${name.padEnd(16)} ${count}`)
      .join('\n'),
  );
  await Promise.all(keepers.map((keeper) => keeper.end()));
  const bad = counts.lost + counts['paid twice'] + counts['wrong hashes'] + counts['left running'] + counts['given up'];
  return bad === 0 && accepted.length === jobs ? 0 : 1;
}

/** Runs one worker and restarts it after a kill. */
class Keeper {
  readonly #service: Service;
  readonly #name: string;
  #worker: Awaited<ReturnType<Service['startWorker']>> | null = null;

  constructor(service: Service, name: string) {
    this.#service = service;
    this.#name = name;
  }

  async start(): Promise<void> {
    this.#worker = await this.#service.startWorker(this.#name, { LOG_LEVEL: 'info' });
  }

  async kill(): Promise<void> {
    await this.#worker?.end('SIGKILL');
    await this.start();
  }

  async end(): Promise<void> {
    const code = await this.#worker?.end('SIGTERM');
    if (code !== 0) console.log(`chaos: ${this.#name} exited with code ${code}`);
  }
}

async function killAtRandom(service: Service, keepers: Keeper[]): Promise<number> {
  let killed = 0;
  // One process at a time is killed and restarted; the others continue.
  while (killed < kills) {
    await sleep(MIN_BETWEEN_KILLS_MS + random() * (MAX_BETWEEN_KILLS_MS - MIN_BETWEEN_KILLS_MS));
    const victim = keepers[Math.floor(random() * (keepers.length + 1))];
    await (victim === undefined ? service.restartServer() : victim.kill());
    killed += 1;
  }
  return killed;
}

/** Retries with the same idempotency key until a response arrives, so that each job is accepted once. */
async function post(service: Service, index: number, model: Model | undefined) {
  if (model === undefined) return null;
  const body = {
    outputType: model.outputType,
    outputModel: model.id,
    prompt: `Lamp number ${index}`,
    folder: null,
    attachments: [],
    // At this resolution the model uses another provider than the rest of its family.
    ...(model.id === 'minimax-h3-max' && { configs: { resolution: '1080p' } }),
  };
  for (let tries = 0; tries < 300; tries++) {
    try {
      const answer = await service.client.generation.generate(
        { params: { id: service.projectId }, body },
        { idempotencyKey: `chaos-${index}` },
      );
      return answer.data.id;
    } catch {
      await sleep(300);
    }
  }
  return null;
}

async function takeStock(service: Service, providers: Providers, accepted: string[]) {
  const counts = {
    accepted: accepted.length,
    uploaded: 0,
    failed: 0,
    canceled: 0,
    lost: 0,
    'paid twice': 0,
    'wrong hashes': 0,
    'left running': 0,
    'outcome unknown': 0,
    'given up': 0,
    orders: 0,
  };
  const errors = new Map<string, number>();
  const filesOf = async () => {
    const found: FileRecord[] = [];
    for await (const file of items(service.client.files.list, { params: { id: service.projectId } })) found.push(file);
    return found;
  };
  const countOpen = () => files.filter(({ status }) => status === 'GENERATING').length;
  let files = await filesOf();
  for (let [open, since] = [countOpen(), Date.now()]; open > 0 && Date.now() - since < SETTLE_SECONDS * 1000; ) {
    await sleep(500);
    files = await filesOf();
    if (countOpen() < open) [open, since] = [countOpen(), Date.now()];
  }
  // Includes files whose 202 response was lost.
  counts['left running'] = countOpen();
  const byId = new Map(files.map((file) => [file.id, file]));
  for (const id of accepted) {
    const file = byId.get(id);
    if (file === undefined) counts.lost += 1;
    else if (file.status === 'FAILED') {
      counts.failed += 1;
      const { code = 'nothing', message = '' } = file.generation?.error ?? {};
      // An order whose response was lost has no job id, so the job cannot be polled.
      if (code === 'SUBMIT_OUTCOME_UNKNOWN') counts['outcome unknown'] += 1;
      else if (providers.hasJob(file)) {
        counts['given up'] += 1;
        console.log(
          `chaos: file failed although its job is running or has succeeded: ${id} ${file.generation?.outputModel}`,
        );
      }
      const reason = `${file.generation?.outputModel}: ${code} (${message})`;
      errors.set(reason, (errors.get(reason) ?? 0) + 1);
    } else if (file.status === 'CANCELED') counts.canceled += 1;
    else if (file.status === 'UPLOADED') {
      counts.uploaded += 1;
      const hash = await service.bytesOf(id).then(sha256, () => 'none');
      if (hash !== file.sha256 || !(await providers.made(file, hash))) counts['wrong hashes'] += 1;
    }
  }
  const orders = providers.orders();
  counts.orders = orders.length;
  for (const [name, same] of Map.groupBy(orders, (order) => order.name)) {
    // Documents and images have no job to look up, so they may be submitted a second time.
    const max = isJob(same[0]?.outputType ?? '') ? 1 : 2;
    if (same.length > max) counts['paid twice'] += 1;
    if (same.length > max) console.log(`chaos: order submitted ${same.length} times: ${name}`);
  }
  if (errors.size > 0) console.log(`chaos: failures: ${[...errors].map((entry) => entry.join(' ')).join(', ')}`);
  return counts;
}

function wholeNumber(name: 'jobs' | 'kills' | 'workers'): number {
  if (/^\d{1,5}$/.test(values[name])) return Number(values[name]);
  throw new Error(`--${name} must be a whole number`);
}

/** A deterministic random number generator (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

// process.exit runs the exit handlers, which end the child processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const mistakes = [...mistakeIn('engine', ['embedded', 'temporal']), ...mistakeIn('providers', ['vendor', 'doubles'])];
for (const mistake of mistakes) console.error(mistake);
process.exitCode = mistakes.length > 0 ? 2 : await chaos();

function mistakeIn(name: 'engine' | 'providers', known: string[]): string[] {
  if (known.includes(values[name])) return [];
  return [`chaos: --${name} "${values[name]}" is unknown; use one of: ${known.join(', ')}`];
}
