import { ApiProblem, type WorkerClient } from '@review/client';
import {
  type Family as FamilyName,
  type GenerationTask,
  OPEN_GENERATION_STATUSES,
  type Provider,
  type WorkerTask,
} from '@review/contract';
import type { Logger } from 'pino';
import type { Family } from '../families/family.ts';
import type { Metrics } from '../metrics.ts';
import type { ProviderSettings } from '../provider-settings.ts';
import { StepError } from '../step-error.ts';

/** The dependencies of a step. The signal aborts it at its timeout or when the worker stops. */
export interface StepContext {
  server: WorkerClient;
  family(name: FamilyName, provider: Provider | null): Family;
  onUnknownSubmit: ProviderSettings['onUnknownSubmit'];
  log: Logger;
  metrics: Metrics;
  /** Holds results between the download from the provider and the upload to the storage. */
  workDirectory: string;
  signal: AbortSignal;
  /** How long an earlier attempt under the same epoch may still record its answer; 0 if there can be none. */
  rivalMs?: number;
}

/** Returns the adapter of the provider that the task requires. */
export const familyOf = (context: StepContext, task: WorkerTask): Family => context.family(task.family, task.provider);

/** Maps errors of the worker API: 404 to LOST, a full storage to STORAGE_FULL, an unavailable server to AWAY. */
export async function mapServerError<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) {
      throw new StepError('LOST', 'The generation has ended, or another worker holds it.');
    }
    if (error instanceof ApiProblem && error.code === 'STORAGE_FULL') {
      throw new StepError('STORAGE_FULL', 'The storage is full.');
    }
    throw isAway(error) ? new StepError('AWAY', 'The server does not answer.') : error;
  }
}

/** `fetch` throws a TypeError for a failed connection; a truncated JSON body is a SyntaxError. */
const isAway = (error: unknown): boolean =>
  error instanceof ApiProblem
    ? error.status >= 500 || error.status === 429
    : error instanceof TypeError || error instanceof SyntaxError;

export async function readTask({ server }: StepContext, { fileId, epoch }: GenerationTask): Promise<WorkerTask> {
  const { data } = await mapServerError(server.getTask({ params: { id: fileId }, query: { epoch } }));
  return data;
}

/** Returns the task like `readTask`, but throws LOST once the generation has ended. */
export async function readOpenTask(context: StepContext, task: GenerationTask): Promise<WorkerTask> {
  const read = await readTask(context, task);
  if (OPEN_GENERATION_STATUSES.includes(read.status)) return read;
  throw new StepError('LOST', 'The generation has ended.');
}

/** The job reference that an adapter stored in the row. */
interface KeptJob {
  id: string;
  warnings: string[];
  /** The submit returned the result, which is stored: there is no job to poll. */
  done: boolean;
  [detail: string]: unknown;
}

export function jobOf(task: WorkerTask, stage: string): KeptJob | null {
  const job = task.stages[stage]?.job;
  return isKeptJob(job) ? job : null;
}

const isKeptJob = (job: unknown): job is KeptJob =>
  typeof job === 'object' && job !== null && 'id' in job && 'warnings' in job && 'done' in job;
