import type { WorkerTask } from '@review/contract';

/** A provider's reference to a job, in its adapter's own form: kept in the row before the first poll. */
export interface JobRef {
  /** What the provider calls the job, for people who look for it there. */
  id: string;
  [detail: string]: unknown;
}

/** Where the result is to be had, in the adapter's own form. */
export type Output = Record<string, unknown>;

/** An order that was taken; what the provider cannot do of what was asked is told by warnings. */
export interface Ordered {
  job: JobRef;
  warnings?: string[];
}

export type Submitted =
  | Ordered
  /** The provider answers with the result at once: there is no job. */
  | { done: Output; warnings?: string[] };

export type Polled =
  | { state: 'running'; progress: number; retryAfterMs: number }
  | { state: 'succeeded'; output: Output };

export interface Call {
  task: WorkerTask;
  signal: AbortSignal;
}

/**
 * One family of models at its provider. Every call throws a `StepError` that says what kind of failure it is; a submit
 * that may have reached the provider without an answer is an AMBIGUOUS_SUBMIT, never a TRANSIENT.
 */
export interface Family {
  provider: 'live' | 'sandbox';
  /** The paid calls that a task takes, in order; most take one. */
  stages(task: WorkerTask): string[];
  /** Refuses what the provider would refuse, before anything is paid. */
  check(task: WorkerTask): void;
  /** `clientJobId` is the same for the same file and stage, for providers that take one. */
  submit(
    call: Call & { stage: string; clientJobId: string; onProgress?: (fraction: number) => void },
  ): Promise<Submitted>;
  poll(call: Call & { job: JobRef }): Promise<Polled>;
  cancel?(call: Call & { job: JobRef }): Promise<void>;
  /** Finds a job whose submit got no answer, where the provider can be asked. */
  lookUp?(call: Call & { clientJobId: string }): Promise<Ordered | null>;
  /** One harmless call under the account, for an operator who wants to know whether it works; answers what it found. */
  probe?(signal: AbortSignal): Promise<string>;
  /** Writes the result to the path. */
  download(call: Call & { output: Output; path: string; onProgress: (fraction: number) => void }): Promise<void>;
}
