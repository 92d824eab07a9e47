// Runs two servers behind a reverse proxy, two workers, Postgres, Temporal and an object store on this host under mixed load,
// and kills, pauses or disconnects each part in turn. Prints what callers observed during each fault, then compares every
// acknowledged write with the stored data. `--only <text>` selects the faults whose name contains it. `--soak <minutes>` runs
// without faults instead, and looks for growth (soak.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { audit, Ledger } from './drill-ledger.ts';
import { emptySeen, Load, type Seen } from './drill-load.ts';
import { Subscribers } from './drill-subscribers.ts';
import { cutFor, Topology } from './drill-topology.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    only: { type: 'string', default: '' },
    soak: { type: 'string' },
  },
});
const minutes = readMinutes('minutes', values.minutes, 1);

function readMinutes(option: string, value: string, min: number): number {
  const read = Number(value);
  if (read >= min && read <= 240) return read;
  throw new Error(`--${option} must be a number from ${min} to 240`);
}

/** Each starts a fault, waits, and ends it. The rest of its time slice shows the recovery. */
const FAULTS: Record<string, (topology: Topology) => Promise<void>> = {
  'no fault': async () => {},
  'server killed': async (topology) => {
    await topology.killServer(0);
    await sleep(5000);
    await topology.startServer(0);
  },
  'server paused for 10 s': (topology) => topology.pauseServer(1, 10_000),
  'rolling restart': async (topology) => {
    for (const index of [0, 1]) await topology.restartServer(index);
    for (const index of [0, 1]) await topology.restartWorker(index);
  },
  'worker killed': async (topology) => {
    await topology.killWorker(0);
    await topology.startWorker(0);
  },
  'worker paused for 20 s': (topology) => topology.pauseWorker(1, 20_000),
  'no worker for 20 s': async (topology) => {
    for (const index of [0, 1]) await topology.killWorker(index);
    await sleep(20_000);
    for (const index of [0, 1]) await topology.startWorker(index);
  },
  'one worker cut off from its server for 15 s': ({ wires }) => cutFor(15_000, wires.server[0]),
  'Postgres killed for 5 s': ({ postgres }) => postgres.crash(5000),
  'Postgres connections cut for 3 s': ({ wires }) => cutFor(3000, ...wires.postgres),
  'Postgres stalled for 10 s': async ({ wires }) => {
    for (const wire of wires.postgres) wire.stall();
    await sleep(10_000);
    for (const wire of wires.postgres) wire.resume();
  },
  'one server cut off from Postgres for 15 s': ({ wires }) => cutFor(15_000, wires.postgres[0]),
  'connections of Postgres used up for 15 s': (topology) => topology.exhaustConnections(15_000),
  'Temporal killed for 15 s': async ({ temporal }) => {
    await temporal.kill();
    await sleep(15_000);
    await temporal.start();
  },
  'Temporal paused for 15 s': ({ temporal }) => temporal.pause(15_000),
  'Temporal killed, and its store lost': async ({ temporal }) => {
    await temporal.kill();
    await temporal.forget();
    await temporal.start();
  },
  'one server and its worker cut off from Temporal for 15 s': ({ wires }) => cutFor(15_000, wires.temporal[0]),
  'object store away for 15 s': async ({ objectStore }) => {
    objectStore.gate.on = () => 503;
    await sleep(15_000);
    objectStore.gate.on = () => undefined;
  },
  'object store full for 15 s': async ({ objectStore }) => {
    objectStore.gate.on = ({ method }) => (method === 'PUT' || method === 'POST' ? 507 : undefined);
    await sleep(15_000);
    objectStore.gate.on = () => undefined;
  },
  'clock of one server 10 minutes ahead': (topology) => topology.restartServer(1, 600_000),
  'no fault again': async () => {},
};

async function drill(): Promise<number> {
  const faults = Object.entries(FAULTS).filter(([name]) => name.includes(values.only));
  if (faults.length === 0) throw new Error(`--only must be part of one of: ${Object.keys(FAULTS).join(', ')}`);
  await using topology = await Topology.start();
  const { service, proxy } = topology;
  const ledger = new Ledger();
  const over = new AbortController();
  const seenBy = new Map<string, Seen>();
  let current = emptySeen();
  const client = service.clientAt(proxy.url, {
    retries: 10,
    fetch: (...request) => {
      current.requests += 1;
      return fetch(...request);
    },
  });
  await using subscribers = await Subscribers.start(service, client);
  const load = new Load(client, service.projectId, ledger, over.signal);
  const running = Promise.all([
    load.run(proxy.url, service.key),
    ...topology.serverUrls.map((url) => load.probeReadiness(url, over.signal)),
  ]);

  const share = (minutes * 60_000) / faults.length;
  for (const [name, act] of faults) {
    current = emptySeen();
    load.seen = current;
    seenBy.set(name, current);
    const started = performance.now();
    await act(topology);
    await sleep(Math.max(0, share - (performance.now() - started)));
    console.log(line(name, current));
  }
  over.abort();
  await running;

  await topology.settle(client);
  const found = await audit(service, client, ledger, await topology.objectStore.keys());
  const requests = [...seenBy.values()].reduce((sum, seen) => sum + seen.requests, 0);
  const { comments, uploads, generations } = ledger;
  console.log(
    `drill: ${requests} requests, ${comments.size} comments, ${uploads.size} uploads, ${generations.size} generations acknowledged`,
  );
  const { lost, wrong, twice, stuck, orphans, failed } = found;
  console.log(`drill: ${lost} lost, ${wrong} wrong, ${twice} twice, ${stuck} stuck, ${orphans} orphans`);
  for (const [reason, count] of failed) console.log(`drill: ${count} generations failed: ${reason}`);
  const { missed, repeated, undelivered, forged, again } = await subscribers.audit(ledger);
  console.log(`drill: events of comments: ${missed} missed, ${repeated} repeated or out of order`);
  console.log(
    `drill: webhook: ${undelivered} undelivered, ${forged} with a wrong signature, ${again} delivered more than once`,
  );
  return lost + wrong + twice + stuck + orphans + missed + repeated + undelivered + forged === 0 ? 0 : 1;
}

function line(name: string, seen: Seen): string {
  const probes = [...seen.probes].map(([status, count]) => `${count} x ${status || 'no response'}`).join(', ');
  const failed = [...seen.failedCalls].map(([what, count]) => `${count} x ${what}`).join('; ') || 'none';
  return [
    `${name}:`,
    `  requests ${seen.requests}, probes without retry: ${probes}`,
    `  longest gap ${Math.round(seen.longestGapMs)} ms, /readyz silent ${seen.silentReadiness}, failed after retries: ${failed}`,
  ].join('\n');
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exitCode = values.soak === undefined ? await drill() : await soak(readMinutes('soak', values.soak, 0.1));
