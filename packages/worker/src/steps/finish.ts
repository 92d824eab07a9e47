import { type GenerationError, type GenerationTask, OPEN_GENERATION_STATUSES, type WorkerTask } from '@review/contract';
import type { Failure } from '../pipeline.ts';
import { isStepErrorType, STEP_ERRORS, StepError } from '../step-error.ts';
import {
  familyOf,
  hasJobs,
  jobOf,
  mapServerError,
  openTask,
  readTask,
  type StepContext,
  warningsOf,
} from './context.ts';

/** Makes the stored result the content of the file. */
export async function finish(context: StepContext, handed: GenerationTask): Promise<void> {
  const task = await openTask(context, handed, (known) => known.stored && hasJobs(context, known));
  const outcome = { status: 'SUCCEEDED', warnings: warningsOf(task) } as const;
  await context.steps.send((steps) =>
    mapServerError(
      context.server.finish({ params: { id: task.fileId }, body: { epoch: handed.epoch, outcome, steps } }),
    ),
  );
}

/** Cancels running jobs where the provider can, and fails the generation with the reason. */
export async function abandon(context: StepContext, handed: GenerationTask, reason: Failure): Promise<void> {
  const task = await readTask(context, handed).catch((error: unknown) => {
    if (error instanceof StepError && error.type === 'LOST') return null;
    throw error;
  });
  if (task === null || task.status === 'SUCCEEDED') return;
  const isOpen = OPEN_GENERATION_STATUSES.includes(task.status);
  // Another run holds the generation: a stale run changes nothing.
  if (isOpen && reason.type === 'LOST') return;
  await cancelJobs(context, task);
  if (!isOpen) return;
  const outcome = { status: 'FAILED', error: errorOf(reason), warnings: warningsOf(task) } as const;
  await mapServerError(context.server.finish({ params: { id: task.fileId }, body: { epoch: handed.epoch, outcome } }));
}

async function cancelJobs(context: StepContext, task: WorkerTask): Promise<void> {
  for (const stage of Object.keys(task.stages)) {
    const job = jobOf(task, stage);
    if (job === null || job.done) continue;
    await familyOf(context, task)
      .cancel?.({ task, signal: context.signal, job })
      .catch((error: unknown) => context.log.warn({ err: error, file: task.fileId }, 'job was not canceled'));
  }
}

function errorOf({ type, message }: Failure): GenerationError {
  const known = STEP_ERRORS[isStepErrorType(type) ? type : 'INTERNAL'];
  return { code: known.code, message: message.slice(0, 1000), retryable: known.retryable };
}
