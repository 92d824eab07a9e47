/** One process during one interval of a soak. */
export interface Sample {
  process: string;
  /** The maximum within the interval. */
  rssBytes: number;
  /** Open file descriptors: the maximum within the interval. */
  handles: number;
  /** Of the requests to the process; empty for a worker. */
  milliseconds: number[];
}

/** The second half of a soak may have so much more than the first. */
const MAX_GROWTH = 1.1;
/** The start is left out: caches fill and code is compiled. */
const WARM_UP = 0.1;

/** Returns the p-th part of the sorted values, such as 0.5 for the median; 0 if there are none. */
export function quantile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? 0;
}

/**
 * Returns a line for each process whose memory or handles grow: the peak of the second half exceeds that of the first. Peaks,
 * because memory falls and rises again with every full collection.
 */
export function findGrowth(intervals: readonly Sample[][]): string[] {
  const steady = intervals.slice(Math.ceil(intervals.length * WARM_UP));
  const middle = Math.floor(steady.length / 2);
  const names = new Set(steady.flat().map((sample) => sample.process));
  const measures = { memory: 'rssBytes', handles: 'handles' } as const;
  return [...names].flatMap((name) =>
    Object.entries(measures).flatMap(([what, field]) => {
      const peakOf = (part: readonly Sample[][]) =>
        Math.max(...part.flat().flatMap((sample) => (sample.process === name ? [sample[field]] : [])));
      const [first, second] = [peakOf(steady.slice(0, middle)), peakOf(steady.slice(middle))];
      const growth = second / first;
      return growth > MAX_GROWTH ? [`${name}: ${what} grew to ${growth.toFixed(2)} times the first half`] : [];
    }),
  );
}

/** Returns the columns of a row of the table, in the order of `HEADINGS`. */
export function rowOf({ process, rssBytes, handles, milliseconds }: Sample): string {
  const latency = (p: number) => (milliseconds.length === 0 ? '-' : quantile(milliseconds, p).toFixed(1));
  return line([
    process,
    (rssBytes / 2 ** 20).toFixed(0),
    handles,
    milliseconds.length || '-',
    latency(0.5),
    latency(0.99),
  ]);
}

const line = (cells: readonly (string | number)[]): string =>
  cells.map((cell, index) => (index === 0 ? String(cell).padEnd(10) : String(cell).padStart(9))).join('');

export const HEADINGS = line(['process', 'RSS MB', 'handles', 'requests', 'p50 ms', 'p99 ms']);
