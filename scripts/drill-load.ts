import { createHash, randomBytes } from 'node:crypto';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, items, upload, waitFor } from '../packages/client/dist/index.js';
import type { Ledger } from './drill-ledger.ts';

const MAX_UPLOAD_BYTES = 20 * 1024 * 1024;
const PROBE_EVERY_MS = 100;
const PROBE_TIMEOUT_MS = 2000;
const SMALL_VIDEO = { resolution: '480p', durationSeconds: 4, aspectRatio: '16:9' };
const ORDERS = [
  { outputType: 'DOCUMENT', outputModel: 'markdown' },
  { outputType: 'IMAGE', outputModel: 'gemini-3.1-flash-image' },
  { outputType: 'VIDEO', outputModel: 'seedance-2.5', configs: SMALL_VIDEO },
  { outputType: '3D', outputModel: 'meshy-7' },
] as const;

/** What callers observed during one fault. */
export interface Seen {
  requests: number;
  /** Responses to probes, which never retry, by status; `0` is no response. */
  probes: Map<number, number>;
  /** Calls of the typed client that failed after all retries. */
  failedCalls: Map<string, number>;
  /** The longest time between two successful probes. */
  longestGapMs: number;
  /** Readiness probes without a response within two seconds. */
  silentReadiness: number;
}

export const emptySeen = (): Seen => ({
  requests: 0,
  probes: new Map(),
  failedCalls: new Map(),
  longestGapMs: 0,
  silentReadiness: 0,
});

const count = <Key>(counts: Map<Key, number>, key: Key) => counts.set(key, (counts.get(key) ?? 0) + 1);

/** Generates mixed load with the typed client and with probes that never retry, until the signal aborts. */
export class Load {
  seen = emptySeen();
  readonly #client: Client;
  readonly #projectId: string;
  readonly #ledger: Ledger;
  readonly #stop: AbortSignal;

  constructor(client: Client, projectId: string, ledger: Ledger, stop: AbortSignal) {
    this.#client = client;
    this.#projectId = projectId;
    this.#ledger = ledger;
    this.#stop = stop;
  }

  async run(proxyUrl: string, key: string): Promise<void> {
    await Promise.all([
      ...Array.from({ length: 3 }, (_, index) => this.#loop('comment', 300, (turn) => this.#comment(index, turn))),
      this.#loop('upload', 2000, () => this.#upload()),
      ...ORDERS.map((order) => this.#loop('generate', 2500, (turn) => this.#generate(order, turn))),
      this.#loop('list', 3000, () => this.#list()),
      this.#loop('wait', 0, () => this.#holdFullWait()),
      this.#probe(`${proxyUrl}/api/ping`, key),
    ]);
  }

  async #loop(what: string, pauseMs: number, act: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; !this.#stop.aborted; turn++) {
      await act(turn).catch((error: unknown) => {
        if (!this.#stop.aborted)
          count(this.seen.failedCalls, `${what}: ${error instanceof Error ? error.message : error}`);
      });
      await sleep(pauseMs, undefined, { signal: this.#stop }).catch(() => {});
    }
  }

  async #comment(writer: number, turn: number): Promise<void> {
    const content = `Writer ${writer}, comment ${turn}`;
    const { data } = await this.#client.comments.create({ params: { id: this.#projectId }, body: { content } });
    this.#ledger.comments.set(data.id, content);
  }

  async #upload(): Promise<void> {
    const bytes = randomBytes(1 + Math.floor(Math.random() ** 3 * MAX_UPLOAD_BYTES));
    const { id } = await upload(this.#client, {
      to: { project: this.#projectId },
      source: new Uint8Array(bytes),
      name: 'drill.bin',
      signal: this.#stop,
    });
    this.#ledger.uploads.set(id, createHash('sha256').update(bytes).digest('hex'));
  }

  async #generate(order: (typeof ORDERS)[number], turn: number): Promise<void> {
    const body = { ...order, prompt: `Lamp ${turn}`, folder: null, attachments: [] };
    const { data } = await this.#client.generation.generate({ params: { id: this.#projectId }, body });
    this.#ledger.generations.add(data.id);
    await waitFor(this.#client, data.id, { signal: this.#stop });
  }

  async #list(): Promise<void> {
    let seen = 0;
    for await (const _ of items(this.#client.comments.list, { params: { id: this.#projectId } })) {
      if (++seen === 200) break;
    }
    await this.#client.projects.list({ body: {} });
    await this.#client.versions.list({ params: { id: this.#projectId } });
  }

  /** Requests the maximum `wait`: the server must respond before a proxy times out at 60 seconds. */
  async #holdFullWait(): Promise<void> {
    const order = { outputType: 'DOCUMENT', outputModel: 'markdown', prompt: '[stall]' } as const;
    const body = { ...order, folder: null, attachments: [] };
    const { data } = await this.#client.generation.generate({ params: { id: this.#projectId }, body });
    try {
      await this.#client.files.get(
        { params: { id: data.id }, query: { wait: 60 } },
        { signal: this.#stop, retries: 0 },
      );
    } finally {
      await this.#client.files.cancel({ params: { id: data.id } });
    }
  }

  async #probe(url: string, key: string): Promise<void> {
    const agent = new Agent({ keepAlive: true });
    let lastGood = performance.now();
    while (!this.#stop.aborted) {
      const status = await probe(url, { agent, headers: { authorization: `Bearer ${key}` } });
      count(this.seen.probes, status);
      if (status === 200) {
        this.seen.longestGapMs = Math.max(this.seen.longestGapMs, performance.now() - lastGood);
        lastGood = performance.now();
      }
      await sleep(PROBE_EVERY_MS);
    }
    agent.destroy();
  }

  /** Probes the readiness of a server until `over`. Refused connections do not count: the drill kills servers. */
  async probeReadiness(url: string, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      if ((await probe(`${url}/readyz`, { agent: false })) === SILENT) this.seen.silentReadiness += 1;
      await sleep(500);
    }
  }
}

const SILENT = -1;

/** Returns the status, 0 if the connection broke or was refused, or SILENT after the timeout. */
const probe = (url: string, options: { agent: Agent | false; headers?: Record<string, string> }): Promise<number> =>
  new Promise((resolve) => {
    const request = get(url, { ...options, timeout: PROBE_TIMEOUT_MS }, (answer) => {
      answer.resume().once('close', () => resolve(answer.statusCode ?? 0));
    });
    request.once('timeout', () => request.destroy(new Error('silent')));
    request.once('error', ({ message }) => resolve(message === 'silent' ? SILENT : 0));
  });
