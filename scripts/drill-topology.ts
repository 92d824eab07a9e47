import { setTimeout as sleep } from 'node:timers/promises';
import { type ObjectStore, startObjectStore } from '../e2e/object-store.ts';
import type { Program } from '../e2e/processes.ts';
import { PROXIES, type RunningProxy, startProxy } from '../e2e/proxies.ts';
import { Service } from '../e2e/service.ts';
import { TemporalServer } from '../e2e/temporal-server.ts';
import { type Client, items } from '../packages/client/dist/index.js';
import { createDatabase, startPostgres, useUpConnections } from '../packages/server/src/test/postgres.ts';
import { type Wire, wireTo } from '../packages/server/src/test/wire.ts';
import { freePort } from './free-port.ts';

const CLOCK = new URL('../e2e/preload/jumping-clock.ts', import.meta.url);
const SETTINGS = {
  DRAIN_SECONDS: '5',
  TRUST_PROXY: '1',
  RECONCILE_SECONDS: '5',
  GENERATION_QUEUE_LIMIT: '100000',
  // The object store used here accepts parts of at most 10 MB.
  UPLOAD_PART_SIZE: String(5 * 1024 * 1024),
  LOG_LEVEL: 'fatal',
};
const hostOf = (wire: Wire | undefined) => new URL(wire?.url ?? '').host;
/** Generations that are open after this time without progress count as stuck. */
const SETTLE_MS = 120_000;

/** Cuts the connections for a while. */
export async function cutFor(milliseconds: number, ...wires: readonly Wire[]): Promise<void> {
  for (const wire of wires) await wire.cut();
  await sleep(milliseconds);
  for (const wire of wires) await wire.mend();
}

/** Two servers behind a proxy, two workers, Postgres, Temporal and an object store, as processes on this host. */
export class Topology implements AsyncDisposable {
  readonly service: Service;
  readonly proxy: RunningProxy;
  readonly temporal: TemporalServer;
  readonly objectStore: ObjectStore;
  readonly postgres: Awaited<ReturnType<typeof startPostgres>>;
  /** Between each server and Postgres, each worker and its server, each server with its worker and Temporal. */
  readonly wires: Record<'postgres' | 'server' | 'temporal', readonly [Wire, Wire]>;
  readonly serverUrls: readonly [string, string];
  readonly #ports: readonly [string, string];
  readonly #servers: (Program | null)[];
  readonly #workers: (Program | null)[] = [null, null];
  readonly #disposed: AsyncDisposableStack;

  private constructor(parts: {
    service: Service;
    proxy: RunningProxy;
    temporal: TemporalServer;
    objectStore: ObjectStore;
    postgres: Topology['postgres'];
    wires: Topology['wires'];
    ports: readonly [string, string];
    second: Program;
    disposed: AsyncDisposableStack;
  }) {
    ({ service: this.service, proxy: this.proxy, temporal: this.temporal, objectStore: this.objectStore } = parts);
    this.postgres = parts.postgres;
    this.wires = parts.wires;
    this.#ports = parts.ports;
    this.serverUrls = [`http://127.0.0.1:${parts.ports[0]}`, `http://127.0.0.1:${parts.ports[1]}`];
    this.#servers = [parts.service.server, parts.second];
    this.#disposed = parts.disposed;
  }

  static async start(): Promise<Topology> {
    await using starting = new AsyncDisposableStack();
    const [kind] = PROXIES;
    if (kind === undefined) throw new Error('the drill needs nginx or HAProxy: install one of them');
    const postgres = await startPostgres({ durable: true });
    starting.defer(postgres.stop);
    const database = starting.use(await createDatabase(postgres.url, 'template0'));
    const temporal = starting.use(await TemporalServer.start());
    const objectStore = starting.use(await startObjectStore());
    const wire = async (address: string) => starting.use(await wireTo(address));
    const pair = async (one: string, other = one) => [await wire(one), await wire(other)] as const;
    const toPostgres = await pair(database.url);
    const toTemporal = await pair(`http://${temporal.address}`);
    const settings = { ...SETTINGS, DATABASE_URL: toPostgres[0].url, TEMPORAL_ADDRESS: hostOf(toTemporal[0]) };
    const service = starting.use(await Service.start(settings, { objectStore }));
    const ports = [new URL(service.url).port, await freePort()] as const;
    const wires = {
      postgres: toPostgres,
      server: await pair(service.url, `http://127.0.0.1:${ports[1]}`),
      temporal: toTemporal,
    };
    const second = await service.startServer({
      PORT: ports[1],
      DATABASE_URL: toPostgres[1].url,
      TEMPORAL_ADDRESS: hostOf(toTemporal[1]),
    });
    const proxy = starting.use(await startProxy(kind, ports));
    const disposed = starting.move();
    const topology = new Topology({ service, proxy, temporal, objectStore, postgres, wires, ports, second, disposed });
    for (const index of [0, 1]) await topology.startWorker(index);
    return topology;
  }

  async startServer(index: number, clockAheadMs = 0): Promise<void> {
    const clock = { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_AHEAD: String(clockAheadMs) };
    this.#servers[index] = await this.service.startServer({
      PORT: this.#ports[index] ?? '',
      DATABASE_URL: this.wires.postgres[index]?.url ?? '',
      TEMPORAL_ADDRESS: hostOf(this.wires.temporal[index]),
      ...(clockAheadMs !== 0 && clock),
    });
  }

  async killServer(index: number): Promise<void> {
    await this.#servers[index]?.end('SIGKILL');
  }

  async restartServer(index: number, clockAheadMs = 0): Promise<void> {
    const code = await this.#servers[index]?.end('SIGTERM');
    if (code !== 0) console.log(`drill: server ${index} exited with code ${code} after SIGTERM`);
    await this.startServer(index, clockAheadMs);
  }

  pauseServer = async (index: number, milliseconds: number) => this.#servers[index]?.pause(milliseconds);
  pauseWorker = async (index: number, milliseconds: number) => this.#workers[index]?.pause(milliseconds);

  async killWorker(index: number): Promise<void> {
    await this.#workers[index]?.end('SIGKILL');
  }

  async startWorker(index: number): Promise<void> {
    this.#workers[index] = await this.service.startWorker(`worker-${index}`, {
      SERVER_URL: `http://${hostOf(this.wires.server[index])}`,
      TEMPORAL_ADDRESS: hostOf(this.wires.temporal[index]),
      // The receiver of the webhook is on this host.
      WEBHOOK_LOOPBACK: 'on',
    });
  }

  async restartWorker(index: number): Promise<void> {
    const code = await this.#workers[index]?.end('SIGTERM');
    if (code !== 0) console.log(`drill: worker ${index} exited with code ${code} after SIGTERM`);
    await this.startWorker(index);
  }

  /** The servers need new connections to Postgres, and there are none. */
  async exhaustConnections(milliseconds: number): Promise<void> {
    for (const wire of this.wires.postgres) await wire.cut();
    await using _used = await useUpConnections(this.postgres.url);
    for (const wire of this.wires.postgres) await wire.mend();
    await sleep(milliseconds);
  }

  /** Waits until every generation has ended, or none has ended for SETTLE_MS. */
  async settle(client: Client): Promise<void> {
    const body = { status: 'GENERATING' } as const;
    for (let [open, since] = [Number.POSITIVE_INFINITY, Date.now()]; Date.now() - since < SETTLE_MS; ) {
      let left = 0;
      for await (const _ of items(client.files.list, { params: { id: this.service.projectId }, body })) left += 1;
      if (left === 0) return;
      if (left < open) [open, since] = [left, Date.now()];
      await sleep(1000);
    }
  }

  [Symbol.asyncDispose] = () => this.#disposed.disposeAsync();
}
