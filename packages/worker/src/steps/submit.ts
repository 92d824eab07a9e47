import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { GenerationTask, WorkerTask } from '@review/contract';
import type { Family, JobRef, Submitted } from '../families/family.ts';
import { StepError } from '../step-error.ts';
import { familyOf, hasJobs, jobOf, mapServerError, openTask, readTask, type StepContext, withJob } from './context.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import { progressReporter, storeOutput } from './store.ts';

/** Whether a submit without an answer is repeated once. Documents and images have no job that could be looked up. */
const ON_UNKNOWN: Record<WorkerTask['outputType'], 'fail' | 'resubmit'> = {
  DOCUMENT: 'resubmit',
  IMAGE: 'resubmit',
  VIDEO: 'fail',
  '3D': 'fail',
};

const CANCEL_MS = 10_000;
const RIVAL_LOOK_MS = 500;

/** Submits a stage at most once: the reservation is stored in the row before the provider is called. */
export async function submit(context: StepContext, handed: GenerationTask, stage: string): Promise<void> {
  const { server } = context;
  const task = await readAfterRival(context, handed, stage);
  if (jobOf(task, stage) !== null || task.stored) return;
  const family = familyOf(context, task);
  const intents = task.stages[stage]?.intents ?? 0;
  const clientJobId = `${task.fileId}-${stage}`;
  const at = { params: { id: task.fileId } };

  if (intents > 0 && (await recoverSubmitted(context, handed, task, stage, clientJobId))) return;
  const known = family.lookUp !== undefined;
  const onUnknown = context.onUnknownSubmit[task.family] ?? ON_UNKNOWN[task.outputType];
  if (!known && intents >= (onUnknown === 'resubmit' ? 2 : 1)) {
    throw new StepError(
      'SUBMIT_OUTCOME_UNKNOWN',
      'The provider may have accepted the submit, but did not answer. It is not repeated, so that it is not billed twice.',
    );
  }
  const intent = { epoch: handed.epoch, stage, provider: family.provider, intents, token: randomUUID() };
  const { data } = await retryWhileUnavailable(context.signal, () =>
    mapServerError(server.reserveSubmit({ ...at, body: intent })),
  );
  if (!data.granted) {
    const isOthers = data.provider !== null && data.provider !== family.provider;
    throw isOthers
      ? new StepError('NOT_MINE', 'The generation is bound to another provider.')
      : new StepError('RIVAL', 'An earlier attempt is submitting the stage.');
  }

  context.tasks.change(handed, ({ stages }) => ({
    status: 'RUNNING',
    provider: data.provider,
    stages: { ...stages, [stage]: data.stage },
  }));
  const reservation = { stage, clientJobId, intents: data.stage.intents };
  const submitted = await submitToProvider(context, handed, task, family, reservation);
  const warnings = submitted.warnings ?? [];
  if ('done' in submitted) {
    const answer = { stage, job: { id: clientJobId, done: true, warnings }, jobId: null };
    const isRecorded = await storeOutput(context, handed, task, family, submitted.done, { submitted: answer }).catch(
      (error: unknown) => {
        throw isFull(error)
          ? new StepError('RESULT_LOST', `${error.message} The result was paid for and is lost.`)
          : error;
      },
    );
    if (!isRecorded) await recordJob(context, handed, answer);
    return;
  }
  const job = { ...submitted.job, done: false, warnings };
  context.unrecorded.set(clientJobId, submitted);
  await retryWhileUnavailable(context.signal, () => recordJob(context, handed, { stage, job, jobId: job.id })).catch(
    async (error: unknown) => {
      // A later attempt records the job once the server accepts it.
      if (!isAway(error)) context.unrecorded.delete(clientJobId);
      await cancelIfUnwanted(context, handed, family, job);
      throw error;
    },
  );
  context.unrecorded.delete(clientJobId);
}

/** Records the provider's answer, which completes the submit. */
async function recordJob(
  { server, steps: log, tasks }: StepContext,
  handed: GenerationTask,
  answer: { stage: string; job: JobRef; jobId: string | null },
): Promise<void> {
  const body = { epoch: handed.epoch, ...answer };
  await log.complete((steps) =>
    mapServerError(server.submitted({ params: { id: handed.fileId }, body: { ...body, steps } })),
  );
  tasks.change(handed, ({ stages }) => ({ stages: withJob(stages, answer.stage, answer.job) }));
}

/**
 * Reads the task, but waits up to `rivalMs` while an earlier attempt holds a reservation without an answer: a worker that
 * was presumed dead may only have been suspended, and may still record its answer.
 */
async function readAfterRival(context: StepContext, handed: GenerationTask, stage: string): Promise<WorkerTask> {
  const until = performance.now() + (context.rivalMs ?? 0);
  for (let isRepeated = context.rivalMs !== undefined; ; isRepeated = true) {
    const task = await openTask(context, handed, (known) => !isRepeated && hasJobs(context, known, stage));
    const isReserved = (task.stages[stage]?.intents ?? 0) > 0 && jobOf(task, stage) === null && !task.stored;
    if (!isReserved || performance.now() >= until) return task;
    await delay(RIVAL_LOOK_MS, undefined, { signal: context.signal });
  }
}

const isAway = (error: unknown) => error instanceof StepError && error.type === 'AWAY';

const isFull = (error: unknown): error is StepError => error instanceof StepError && error.type === 'STORAGE_FULL';

/** Cancels a job whose generation ended during the submit. No row references it, so no other step would. */
async function cancelIfUnwanted(
  context: StepContext,
  handed: GenerationTask,
  family: Family,
  job: JobRef,
): Promise<void> {
  const task = await readTask(context, handed).catch(() => null);
  if (task?.status !== 'CANCELED' && task?.status !== 'FAILED') return;
  await family
    // Not the step's signal, which the loss of the generation may have aborted.
    .cancel?.({ task, signal: AbortSignal.timeout(CANCEL_MS), job })
    .catch((error: unknown) => context.log.warn({ err: error, file: task.fileId }, 'job was not canceled'));
}

/** Records the job of an earlier submit: the one that this worker has kept, or that the provider can look up. Returns whether there is one. */
async function recoverSubmitted(
  context: StepContext,
  handed: GenerationTask,
  task: WorkerTask,
  stage: string,
  clientJobId: string,
): Promise<boolean> {
  const found =
    context.unrecorded.get(clientJobId) ??
    (await familyOf(context, task).lookUp?.({ task, signal: context.signal, clientJobId }));
  if (!found) return false;
  const job = { ...found.job, done: false, warnings: found.warnings ?? [] };
  await recordJob(context, handed, { stage, job, jobId: job.id });
  context.unrecorded.delete(clientJobId);
  return true;
}

async function submitToProvider(
  context: StepContext,
  handed: GenerationTask,
  task: WorkerTask,
  family: Family,
  { stage, clientJobId, intents }: { stage: string; clientJobId: string; intents: number },
): Promise<Submitted> {
  try {
    // Another worker may be as old as the server.
    if (context.isServerOlder()) throw new StepError('NOT_MINE', 'The server is older than this worker.');
    const onProgress = progressReporter(context, handed, { from: 0, to: 0.8 });
    return await family.submit({ task, signal: context.signal, stage, clientJobId, onProgress });
  } catch (error) {
    // Any error but AMBIGUOUS_SUBMIT means that the provider accepted nothing, so the reservation is released.
    if (error instanceof StepError && error.type !== 'AMBIGUOUS_SUBMIT') {
      const body = { epoch: handed.epoch, stage, intents };
      const release = () => mapServerError(context.server.releaseSubmit({ params: { id: task.fileId }, body }));
      // Before a retry the release must succeed: a remaining reservation would count as a submit without an answer.
      await (error.retryable ? retryWhileUnavailable(context.signal, release) : release()).catch((reason: unknown) =>
        context.log.warn({ err: reason, file: task.fileId }, 'submit reservation was not released'),
      );
    }
    throw error;
  }
}
