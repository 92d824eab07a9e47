import { ApiProblem, type WorkerClient } from '@review/client';
import type { Family as FamilyName, GenerationTask, Provider, WorkerTask } from '@review/contract';
import type { Logger } from 'pino';
import type { Family } from '../families/family.ts';
import type { Metrics } from '../metrics.ts';
import type { ProviderSettings } from '../provider-settings.ts';
import { StepError } from '../step-error.ts';

/** What the steps are given; the signal ends them when their time is over or the worker stops. */
export interface StepContext {
  server: WorkerClient;
  family(name: FamilyName, provider: Provider | null): Family;
  onUnknownSubmit: ProviderSettings['onUnknownSubmit'];
  log: Logger;
  metrics: Metrics;
  /** Where results are kept on their way from the provider to the storage. */
  workDirectory: string;
  signal: AbortSignal;
  /** How long an earlier attempt under the same epoch may still record its answer; 0 where there can be none. */
  rivalMs?: number;
}

/** The provider that has to make it, as this worker can reach it. */
export const familyOf = (context: StepContext, task: WorkerTask): Family => context.family(task.family, task.provider);

/** A server that knows no such generation under this epoch means: it is no longer ours. */
export async function orLost<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) {
      throw new StepError('LOST', 'The generation has ended or was handed to somebody else.');
    }
    if (error instanceof ApiProblem && error.code === 'STORAGE_FULL') {
      throw new StepError('STORAGE_FULL', 'The storage is full.');
    }
    throw isAway(error) ? new StepError('AWAY', 'The server does not answer.') : error;
  }
}

/** `fetch` tells of a connection that failed or broke off by a TypeError, of an answer cut short by a SyntaxError. */
const isAway = (error: unknown): boolean =>
  error instanceof ApiProblem
    ? error.status >= 500 || error.status === 429
    : error instanceof TypeError || error instanceof SyntaxError;

export async function readTask({ server }: StepContext, { fileId, epoch }: GenerationTask): Promise<WorkerTask> {
  const { data } = await orLost(server.getTask({ params: { id: fileId }, query: { epoch } }));
  return data;
}

/** As `readTask`, for steps that only make sense while the generation is open. */
export async function readOpenTask(context: StepContext, task: GenerationTask): Promise<WorkerTask> {
  const read = await readTask(context, task);
  if (read.status === 'QUEUED' || read.status === 'RUNNING') return read;
  throw new StepError('LOST', 'The generation has ended.');
}

/** A job as an adapter left it in the row. */
interface KeptJob {
  id: string;
  warnings: string[];
  /** The result came with the submit and is stored: there is nothing to wait for. */
  done: boolean;
  [detail: string]: unknown;
}

export function jobOf(task: WorkerTask, stage: string): KeptJob | null {
  const job = task.stages[stage]?.job;
  return isKeptJob(job) ? job : null;
}

const isKeptJob = (job: unknown): job is KeptJob =>
  typeof job === 'object' && job !== null && 'id' in job && 'warnings' in job && 'done' in job;
