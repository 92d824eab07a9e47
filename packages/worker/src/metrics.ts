import type { Family } from '@review/contract';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** A few milliseconds for a row that is looked at, minutes for a video that is brought in. */
const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

/** What `/metrics` tells of the generations that this worker has its hands on. */
export class Metrics {
  readonly registry = new Registry();
  readonly #steps = new Counter({
    name: 'generation_steps_total',
    help: 'Attempts at steps of generations, by how they ended; WAITED is one that is made again and costs no try',
    labelNames: ['family', 'step', 'outcome'],
    registers: [this.registry],
  });
  readonly #seconds = new Histogram({
    name: 'generation_step_seconds',
    help: 'How long attempts at steps of generations took',
    labelNames: ['family', 'step'],
    buckets: BUCKETS,
    registers: [this.registry],
  });
  readonly #inProgress = new Gauge({
    name: 'generations_in_progress',
    help: 'Generations that this worker holds (embedded engine), or runs a step of (Temporal)',
    labelNames: ['family'],
    registers: [this.registry],
  });

  readonly #refusals = new Counter({
    name: 'provider_refusals_total',
    help: 'Calls that a provider refused because of the account: AUTH is the key or the access, BALANCE is used up',
    labelNames: ['family', 'type'],
    registers: [this.registry],
  });

  countRefusal(family: Family, type: string): void {
    this.#refusals.inc({ family, type });
  }

  countStep(family: Family, step: string, outcome: string, milliseconds: number): void {
    this.#steps.inc({ family, step, outcome });
    this.#seconds.observe({ family, step }, milliseconds / 1000);
  }

  /** Counts a generation as in progress until the work is done. */
  async during<T>(family: Family, work: () => Promise<T>): Promise<T> {
    this.#inProgress.inc({ family });
    try {
      return await work();
    } finally {
      this.#inProgress.dec({ family });
    }
  }
}
