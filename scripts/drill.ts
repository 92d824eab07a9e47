// Runs two servers behind a reverse proxy, two workers, Postgres, Temporal and an object store on this host under mixed load,
// and kills, pauses or disconnects each part in turn. Prints what callers observed during each fault, then compares every
// acknowledged write with the stored data. `--soak <minutes>` runs without faults instead, and looks for growth (soak.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { audit, Ledger } from './drill-ledger.ts';
import { emptySeen, Load, type Seen } from './drill-load.ts';
import { Topology } from './drill-topology.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' }, soak: { type: 'string' } } });
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
  'server stopped for 10 s': (topology) => topology.stopServer(1, 10_000),
  'rolling restart': async (topology) => {
    for (const index of [0, 1]) await topology.restartServer(index);
  },
  'worker killed': async (topology) => {
    await topology.killWorker(0);
    await topology.startWorker(0);
  },
  'worker stopped for 20 s': (topology) => topology.stopWorker(1, 20_000),
  'no worker for 20 s': async (topology) => {
    for (const index of [0, 1]) await topology.killWorker(index);
    await sleep(20_000);
    for (const index of [0, 1]) await topology.startWorker(index);
  },
  'Postgres connections cut': async (topology) => {
    for (const wire of topology.wires) await wire.cut();
    await sleep(3000);
    for (const wire of topology.wires) await wire.mend();
  },
  'Postgres stalled for 10 s': async (topology) => {
    for (const wire of topology.wires) wire.stall();
    await sleep(10_000);
    for (const wire of topology.wires) wire.resume();
  },
  'one server cut off from Postgres for 15 s': async ({ wires: [first] }) => {
    await first.cut();
    await sleep(15_000);
    await first.mend();
  },
  'Temporal killed for 15 s': async ({ temporal }) => {
    await temporal.kill();
    await sleep(15_000);
    await temporal.start();
  },
  'object store away for 15 s': async ({ objectStore }) => {
    objectStore.gate.on = () => 503;
    await sleep(15_000);
    objectStore.gate.on = () => undefined;
  },
  'clock of one server 10 minutes ahead': (topology) => topology.restartServer(1, 600_000),
  'no fault again': async () => {},
};

async function drill(): Promise<number> {
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
  const load = new Load(client, service.projectId, ledger, over.signal);
  const running = Promise.all([
    load.run(proxy.url, service.key),
    ...topology.serverUrls.map((url) => load.probeReadiness(url, over.signal)),
  ]);

  const share = (minutes * 60_000) / Object.keys(FAULTS).length;
  for (const [name, act] of Object.entries(FAULTS)) {
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
  return lost + wrong + twice + stuck + orphans === 0 ? 0 : 1;
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
