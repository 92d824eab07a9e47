import type { Family } from '@review/contract';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** In seconds: milliseconds for a check of the row, minutes for the download of a video. */
const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

/** The metrics of the generations and webhooks that this worker processes. */
export class Metrics {
  readonly registry = new Registry();
  readonly #steps = new Counter({
    name: 'generation_steps_total',
    help: 'Attempts at steps of generations, by outcome; WAITED attempts are repeated and do not count as attempts',
    labelNames: ['family', 'step', 'outcome'],
    registers: [this.registry],
  });
  readonly #seconds = new Histogram({
    name: 'generation_step_seconds',
    help: 'Duration of attempts at steps of generations',
    labelNames: ['family', 'step'],
    buckets: BUCKETS,
    registers: [this.registry],
  });
  readonly #inProgress = new Gauge({
    name: 'generations_in_progress',
    help: 'Generations that this worker holds (embedded engine) or runs a step of (Temporal)',
    labelNames: ['family'],
    registers: [this.registry],
  });

  readonly #refusals = new Counter({
    name: 'provider_refusals_total',
    help: 'Calls that a provider refused because of the account: AUTH for the key or its access, BALANCE for an exhausted balance',
    labelNames: ['family', 'type'],
    registers: [this.registry],
  });

  readonly #webhooks = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts at webhook deliveries, by outcome',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly #serverOlder = new Gauge({
    name: 'worker_server_older',
    help: '1 while the server is older than this worker, which then takes no work',
    registers: [this.registry],
  });

  setServerOlder(isOlder: boolean): void {
    this.#serverOlder.set(isOlder ? 1 : 0);
  }

  countWebhook(outcome: 'SUCCEEDED' | 'FAILED'): void {
    this.#webhooks.inc({ outcome });
  }

  countRefusal(family: Family, type: string): void {
    this.#refusals.inc({ family, type });
  }

  countStep(family: Family, step: string, outcome: string, milliseconds: number): void {
    this.#steps.inc({ family, step, outcome });
    this.#seconds.observe({ family, step }, milliseconds / 1000);
  }

  /** Counts a generation as in progress until `work` settles. */
  async during<T>(family: Family, work: () => Promise<T>): Promise<T> {
    this.#inProgress.inc({ family });
    try {
      return await work();
    } finally {
      this.#inProgress.dec({ family });
    }
  }
}
