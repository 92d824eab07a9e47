import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, Registry } from 'prom-client';
import { z } from 'zod';

/** A process that does not answer within this time is left out of a scrape. */
const COLLECT_TIMEOUT_MS = 2000;

const Metrics = z.array(z.record(z.string(), z.unknown()));
const ToProcess = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('collect-metrics'), id: z.number() }),
  z.object({ kind: z.literal('all-metrics'), id: z.number(), text: z.string() }),
]);
const ToPrimary = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('get-metrics'), id: z.number() }),
  z.object({ kind: z.literal('metrics'), id: z.number(), metrics: Metrics }),
]);
type ToProcess = z.infer<typeof ToProcess>;
type ToPrimary = z.infer<typeof ToPrimary>;

/** The registry of one of several processes. `metrics` returns the metrics of all of them, which the primary collects. */
export class SharedRegistry extends Registry {
  readonly #answers = new Map<number, (text: string) => void>();
  #requests = 0;

  constructor() {
    super();
    process.on('message', (message) => void this.#receive(message));
  }

  override metrics(): Promise<string> {
    const id = this.#requests++;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#answers.set(id, resolve);
    sendToPrimary({ kind: 'get-metrics', id });
    return promise;
  }

  async #receive(message: unknown): Promise<void> {
    const { data } = ToProcess.safeParse(message);
    if (data?.kind === 'collect-metrics') {
      sendToPrimary({ kind: 'metrics', id: data.id, metrics: Metrics.parse(await this.getMetricsAsJSON()) });
    } else if (data?.kind === 'all-metrics') {
      this.#answers.get(data.id)?.(data.text);
      this.#answers.delete(data.id);
    }
  }
}

/** Collects the metrics of all processes when one of them asks. Runs in the primary. */
export function relayMetrics(): void {
  let collections = 0;
  const waiting = new Map<number, (metrics: z.infer<typeof Metrics>) => void>();

  async function collect(): Promise<string> {
    const processes = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true);
    const answers = await Promise.all(processes.map((worker) => (worker === undefined ? [] : collectFrom(worker))));
    return AggregatorRegistry.aggregate(answers).metrics();
  }

  function collectFrom(worker: Worker): Promise<z.infer<typeof Metrics>> {
    const id = collections++;
    const { promise, resolve } = Promise.withResolvers<z.infer<typeof Metrics>>();
    const giveUp = () => resolve([]);
    const timer = setTimeout(giveUp, COLLECT_TIMEOUT_MS);
    worker.once('exit', giveUp);
    waiting.set(id, resolve);
    send(worker, { kind: 'collect-metrics', id });
    return promise.finally(() => {
      clearTimeout(timer);
      worker.off('exit', giveUp);
      waiting.delete(id);
    });
  }

  cluster.on('message', async (worker, message: unknown) => {
    const { data } = ToPrimary.safeParse(message);
    if (data?.kind === 'metrics') waiting.get(data.id)?.(data.metrics);
    else if (data?.kind === 'get-metrics') send(worker, { kind: 'all-metrics', id: data.id, text: await collect() });
  });
}

/** Ignores that the process has just ended. */
function send(worker: Worker, message: ToProcess): void {
  if (worker.isConnected()) worker.send(message, undefined, () => {});
}

function sendToPrimary(message: ToPrimary): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
