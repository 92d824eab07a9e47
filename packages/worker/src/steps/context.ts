import { ApiProblem } from '@review/client';
import type { WorkerClient } from '@review/client/worker';
import {
  type Family as FamilyName,
  type GenerationTask,
  OPEN_GENERATION_STATUSES,
  type Provider,
  type WorkerTask,
} from '@review/contract';
import type { Logger } from 'pino';
import type { Family, JobRef } from '../families/family.ts';
import type { Metrics } from '../metrics.ts';
import type { ProviderSettings } from '../provider-settings.ts';
import { OlderServerError } from '../server-version.ts';
import { StepError } from '../step-error.ts';
import type { KnownTasks } from './known-tasks.ts';
import type { StepLog } from './step-log.ts';

/** The dependencies of a step. The signal aborts it at its timeout or when the worker stops. */
export interface StepContext {
  server: WorkerClient;
  family(name: FamilyName, provider: Provider | null): Family;
  onUnknownSubmit: ProviderSettings['onUnknownSubmit'];
  metrics: Metrics;
  /** Holds results between the download from the provider and the upload to the storage. */
  workDirectory: string;
  signal: AbortSignal;
  tasks: KnownTasks;
  log: Logger;
  /** The attempt that runs, for the timeline. */
  steps: StepLog;
  /** Whether an older server has answered: it may refuse to record a submit, so that none is made. */
  isServerOlder: () => boolean;
  /** The accepted jobs that the server has not recorded yet, by client job id. */
  unrecorded: Map<string, { job: JobRef; warnings?: string[] }>;
  /** How long an earlier attempt under the same epoch may still record its answer; undefined if there can be none. */
  rivalMs?: number | undefined;
}

/** Returns the adapter of the provider that the task requires. */
export const familyOf = (context: StepContext, task: WorkerTask): Family => context.family(task.family, task.provider);

/** Maps errors of the worker API: 404 to LOST, a full storage to STORAGE_FULL, an unavailable or older server to AWAY. */
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
    if (error instanceof OlderServerError) throw new StepError('AWAY', error.message);
    throw isAway(error) ? new StepError('AWAY', 'The server does not answer.') : error;
  }
}

/** `fetch` throws a TypeError for a failed connection; a truncated JSON body is a SyntaxError. */
const isAway = (error: unknown): boolean =>
  error instanceof ApiProblem
    ? error.status >= 500 || error.status === 429
    : error instanceof TypeError || error instanceof SyntaxError;

/** What every part of a step needs to call the server. */
type Reader = Pick<StepContext, 'server' | 'tasks'>;

export async function readTask({ server, tasks }: Reader, handed: GenerationTask): Promise<WorkerTask> {
  const { fileId, epoch } = handed;
  const { data } = await mapServerError(server.getTask({ params: { id: fileId }, query: { epoch } }));
  tasks.remember(handed, data);
  return data;
}

/** Returns the task as this worker knows it, if that is enough, else reads it. Throws LOST once the generation has ended. */
export async function openTask(
  context: Reader,
  handed: GenerationTask,
  isEnough: (task: WorkerTask) => boolean,
): Promise<WorkerTask> {
  const known = context.tasks.find(handed);
  return known !== undefined && isEnough(known) ? known : readOpenTask(context, handed);
}

/** Returns the task like `readTask`, but throws LOST once the generation has ended. */
export async function readOpenTask(context: Reader, handed: GenerationTask): Promise<WorkerTask> {
  return requireOpen(await readTask(context, handed));
}

export function requireOpen(task: WorkerTask): WorkerTask {
  if (OPEN_GENERATION_STATUSES.includes(task.status)) return task;
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

export const withJob = (stages: WorkerTask['stages'], stage: string, job: unknown): WorkerTask['stages'] => ({
  ...stages,
  [stage]: { intents: stages[stage]?.intents ?? 1, job },
});

/** Whether the jobs of all stages are known, or of those before `stage`. A job that is recorded stays the same. */
export function hasJobs(context: StepContext, task: WorkerTask, before?: string): boolean {
  const stages = familyOf(context, task).stages(task);
  const needed = before === undefined ? stages : stages.slice(0, stages.indexOf(before));
  return needed.every((stage) => jobOf(task, stage) !== null);
}

export const warningsOf = (task: WorkerTask): string[] =>
  Object.keys(task.stages).flatMap((stage) => jobOf(task, stage)?.warnings ?? []);

const isKeptJob = (job: unknown): job is KeptJob =>
  typeof job === 'object' && job !== null && 'id' in job && 'warnings' in job && 'done' in job;
