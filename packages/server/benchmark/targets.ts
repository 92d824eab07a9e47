/** The requests that are measured on both databases. */
export const ROWS = ['list 50 comments', 'get comment', 'create comment', 'get file', 'list versions', 'ping'] as const;
export type RowName = (typeof ROWS)[number];
export type Dialect = 'sqlite' | 'postgres';

interface Targets {
  /** CPU time per request over one connection, as a ratio to the fair server. */
  cpu: Partial<Record<RowName, number>>;
  /** The same over 16 connections. */
  cpuAt16: Partial<Record<RowName, number>>;
  /** p99 over 16 connections, as a ratio to the fair server. */
  p99: number;
  jobsPerSecond: number;
  workerCallsPerJob: number;
  transactionsPerJob: number;
  statementsPerJob: number;
  /** The time until `/readyz` succeeds. */
  readySeconds: number;
  /** CPU time with 1,000,000 comments, as a ratio to 1,000. */
  growth: number;
}

const generation = { workerCallsPerJob: 6, transactionsPerJob: 5, statementsPerJob: 20 };

/** All targets. Ratios hold within one run; absolute numbers for 2 cores. A missing number is not enforced. */
export const TARGETS: Record<Dialect, Targets> = {
  sqlite: {
    cpu: {
      'list 50 comments': 1.4,
      'get comment': 1.3,
      'create comment': 1.6,
      'get file': 1.4,
      'list versions': 1.4,
    },
    cpuAt16: { 'create comment': 1.1 },
    p99: 2,
    jobsPerSecond: 150,
    ...generation,
    readySeconds: 0.5,
    growth: 1.15,
  },
  postgres: {
    cpu: {
      'list 50 comments': 1.3,
      'get comment': 1.2,
      'create comment': 1.5,
      'get file': 1.3,
      'list versions': 1.3,
    },
    cpuAt16: {},
    p99: 2,
    jobsPerSecond: 100,
    ...generation,
    readySeconds: 0.5,
    growth: 1.15,
  },
};

/** Upload and download, in MB/s as a ratio to a bare stream. */
export const BYTES_TARGET = 0.8;

/** Resident memory under mixed load over 16 connections: the peak, and that of the second half as a ratio to the first. */
export const MEMORY_TARGETS = { megabytes: 200, growth: 1.1 };

/** A search by keyword over 100,000 projects or files: the median in milliseconds. */
export const SEARCH_TARGET_MS = 5;

/** CPU time with the database's processes on Postgres, as a ratio to Parse Server. */
export const PEER_TARGETS: Partial<Record<RowName, number>> = {
  'list 50 comments': 0.8,
  'get comment': 0.8,
  'create comment': 0.8,
};

/** A figure with its target. */
export interface Check {
  name: string;
  value: number;
  target: number;
  met: boolean;
}

export const atMost = (name: string, value: number, target: number): Check => ({
  name,
  value,
  target,
  met: value <= target,
});

export const atLeast = (name: string, value: number, target: number): Check => ({
  name,
  value,
  target,
  met: value >= target,
});
