import { Gauge } from 'prom-client';
import type { Deps } from './deps.ts';

interface Measure<Label extends string> {
  name: string;
  help: string;
  labelNames?: Label[];
  /** Of several processes of one server: `first` where each reads the same database, `sum` where each has its own part. */
  aggregator: 'first' | 'sum';
  read(gauge: Gauge<Label>): Promise<void> | void;
}

/** Registers a gauge that is read on each scrape. */
export function registerGauge<Label extends string = never>(
  { metrics, log }: Pick<Deps, 'metrics' | 'log'>,
  { name, help, labelNames = [], aggregator, read }: Measure<Label>,
): void {
  new Gauge<Label>({
    name,
    help,
    labelNames,
    aggregator,
    registers: [metrics],
    async collect() {
      try {
        await read(this);
      } catch (error) {
        // A failed query must not hide the other metrics.
        log.debug({ err: error }, `metric ${name} not collected`);
      }
    },
  });
}
