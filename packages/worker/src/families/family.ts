import type { WorkerTask } from '@review/contract';
import type { StepSeconds } from '../policy.ts';
import type { Account, AccountReader } from '../provider-settings.ts';
import type { AdapterContext } from './adapter-context.ts';

/** A provider's reference to a job, in a form that only its adapter reads. Stored in the row before the first poll. */
export interface JobRef {
  /** The provider's id of the job. */
  id: string;
  [detail: string]: unknown;
}

/** The result or its location, in a form that only the adapter reads. */
export type Output = Record<string, unknown>;

/** An accepted submit. Warnings name the parts of the request that the provider ignores. */
export interface Ordered {
  job: JobRef;
  warnings?: string[];
}

export type Submitted =
  | Ordered
  /** The provider answered with the result: there is no job. */
  | { done: Output; warnings?: string[] };

export type Polled =
  | { state: 'running'; progress: number; retryAfterMs: number }
  | { state: 'succeeded'; output: Output };

export interface Call {
  task: WorkerTask;
  signal: AbortSignal;
}

/**
 * The adapter of a family of models. Every call throws a `StepError`. A submit that may have reached the provider without
 * an answer throws AMBIGUOUS_SUBMIT, never TRANSIENT.
 */
export interface Family {
  provider: 'live' | 'sandbox';
  /** The paid calls of a task, in order; most tasks have one. */
  stages(task: WorkerTask): string[];
  /** Throws for a task that the provider would refuse, before anything is paid. */
  check(task: WorkerTask): void;
  /** `clientJobId` is the idempotency key of file and stage, for providers that take one. */
  submit(
    call: Call & { stage: string; clientJobId: string; onProgress?: (fraction: number) => void },
  ): Promise<Submitted>;
  poll(call: Call & { job: JobRef }): Promise<Polled>;
  cancel?(call: Call & { job: JobRef }): Promise<void>;
  /** Looks up a job whose submit got no answer, for providers that support it. */
  lookUp?(call: Call & { clientJobId: string }): Promise<Ordered | null>;
  /** Makes one call that costs nothing, to check the account, and returns a description for the operator. */
  probe?(signal: AbortSignal): Promise<string>;
  download(call: Call & { output: Output; path: string; onProgress: (fraction: number) => void }): Promise<void>;
}

/**
 * Everything about a family that is not in the contract: its account, its timeouts and its adapter. `index.ts` finds it in
 * the file with the name of the family.
 */
export interface FamilyDescription<Settings extends object> extends StepSeconds {
  /** The settings that switch the family from the sandbox to its provider, for the operator. */
  keySettings: string;
  readAccount(settings: AccountReader): Account<Settings>;
  /** Opens the adapter with a live account that `readAccount` returned. */
  open(account: Settings, context: AdapterContext): Family;
}
