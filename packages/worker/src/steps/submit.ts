import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { GenerationTask, WorkerTask } from '@review/contract';
import type { Family, JobRef, Submitted } from '../families/family.ts';
import { StepError } from '../step-error.ts';
import { familyOf, jobOf, orLost, readOpenTask, readTask, type StepContext } from './context.ts';
import { insist } from './insist.ts';
import { progressReporter, storeOutput } from './store.ts';

/** Whether an order without an answer is placed once more: documents and images have no job to look up. */
const ON_UNKNOWN: Record<WorkerTask['outputType'], 'fail' | 'resubmit'> = {
  DOCUMENT: 'resubmit',
  IMAGE: 'resubmit',
  VIDEO: 'fail',
  '3D': 'fail',
};

const CANCEL_MS = 10_000;
const RIVAL_LOOK_MS = 500;

/** Places the order, once: the intent is in the row before the provider hears of it. */
export async function submit(context: StepContext, handed: GenerationTask, stage: string): Promise<void> {
  const { server } = context;
  const task = await readSettled(context, handed, stage);
  if (jobOf(task, stage) !== null || task.stored) return;
  const family = familyOf(context, task);
  const intents = task.stages[stage]?.intents ?? 0;
  const clientJobId = `${task.fileId}-${stage}`;
  const at = { params: { id: task.fileId } };

  if (intents > 0 && (await foundEarlier(context, handed, task, stage, clientJobId))) return;
  const known = family.lookUp !== undefined;
  const onUnknown = context.onUnknownSubmit[task.family] ?? ON_UNKNOWN[task.outputType];
  if (!known && intents >= (onUnknown === 'resubmit' ? 2 : 1)) {
    throw new StepError(
      'SUBMIT_OUTCOME_UNKNOWN',
      'The provider may or may not have taken the order; it is not placed again, so that it is not paid twice.',
    );
  }
  const intent = { epoch: handed.epoch, stage, provider: family.provider, intents, token: randomUUID() };
  const { data } = await insist(context.signal, () => orLost(server.reserveSubmit({ ...at, body: intent })));
  if (!data.granted) {
    const isOthers = data.provider !== null && data.provider !== family.provider;
    throw isOthers
      ? new StepError('NOT_MINE', 'Another provider has to make it.')
      : new StepError('RIVAL', 'An earlier attempt places the order.');
  }

  const placed = { stage, clientJobId, intents: data.stage.intents };
  const submitted = await placeOrder(context, handed, task, family, placed);
  const warnings = submitted.warnings ?? [];
  if ('done' in submitted) {
    await storeOutput(context, handed, task, family, submitted.done, { inHand: true }).catch((error: unknown) => {
      throw isFull(error)
        ? new StepError('RESULT_LOST', `${error.message} The result was paid for and is lost.`)
        : error;
    });
    const job = { id: clientJobId, done: true, warnings };
    await orLost(server.submitted({ ...at, body: { epoch: handed.epoch, stage, job, jobId: null } }));
    return;
  }
  const job = { ...submitted.job, done: false, warnings };
  const body = { epoch: handed.epoch, stage, job, jobId: job.id };
  await insist(context.signal, () => orLost(server.submitted({ ...at, body }))).catch(async (error: unknown) => {
    await cancelIfUnwanted(context, handed, family, job);
    throw error;
  });
}

/**
 * The generation once an earlier attempt that has intended the call, and was taken for dead, has had time to record its
 * answer: a worker that was only stopped for a while comes back and does.
 */
async function readSettled(context: StepContext, handed: GenerationTask, stage: string): Promise<WorkerTask> {
  const until = performance.now() + (context.rivalMs ?? 0);
  for (;;) {
    const task = await readOpenTask(context, handed);
    const isIntended = (task.stages[stage]?.intents ?? 0) > 0 && jobOf(task, stage) === null && !task.stored;
    if (!isIntended || performance.now() >= until) return task;
    await delay(RIVAL_LOOK_MS, undefined, { signal: context.signal });
  }
}

const isFull = (error: unknown): error is StepError => error instanceof StepError && error.type === 'STORAGE_FULL';

/** A job that was ordered while somebody canceled: no row names it, so it has to be stopped here. */
async function cancelIfUnwanted(
  context: StepContext,
  handed: GenerationTask,
  family: Family,
  job: JobRef,
): Promise<void> {
  const task = await readTask(context, handed).catch(() => null);
  if (task?.status !== 'CANCELED' && task?.status !== 'FAILED') return;
  await family
    // Not the step's own signal: losing the generation may have been what ended it.
    .cancel?.({ task, signal: AbortSignal.timeout(CANCEL_MS), job })
    .catch((error: unknown) => context.log.warn({ err: error, file: task.fileId }, 'a job could not be canceled'));
}

/** An order that was intended before and never answered: some providers can be asked for it. */
async function foundEarlier(
  context: StepContext,
  handed: GenerationTask,
  task: WorkerTask,
  stage: string,
  clientJobId: string,
): Promise<boolean> {
  const found = await familyOf(context, task).lookUp?.({ task, signal: context.signal, clientJobId });
  if (!found) return false;
  const job = { ...found.job, done: false, warnings: found.warnings ?? [] };
  const body = { epoch: handed.epoch, stage, job, jobId: job.id };
  await orLost(context.server.submitted({ params: { id: task.fileId }, body }));
  return true;
}

async function placeOrder(
  context: StepContext,
  handed: GenerationTask,
  task: WorkerTask,
  family: Family,
  { stage, clientJobId, intents }: { stage: string; clientJobId: string; intents: number },
): Promise<Submitted> {
  try {
    const onProgress = progressReporter(context, handed, { from: 0, to: 0.8 });
    return await family.submit({ task, signal: context.signal, stage, clientJobId, onProgress });
  } catch (error) {
    // Every failure that is not ambiguous means: no order was taken, and the intent can go.
    if (error instanceof StepError && error.type !== 'AMBIGUOUS_SUBMIT') {
      const body = { epoch: handed.epoch, stage, intents };
      const takeBack = () => orLost(context.server.releaseSubmit({ params: { id: task.fileId }, body }));
      // Where it is tried again, an intent that stays would be taken for an order; else only the reason matters.
      await (error.retryable ? insist(context.signal, takeBack) : takeBack()).catch((reason: unknown) =>
        context.log.warn({ err: reason, file: task.fileId }, 'an intent was not withdrawn'),
      );
    }
    throw error;
  }
}
