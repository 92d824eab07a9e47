import type { GenerationTask } from '@review/contract';
import { StepError } from '../step-error.ts';
import { familyOf, hasJobs, jobOf, mapServerError, openTask, type StepContext } from './context.ts';

/** Polls the job once. Throws NOT_READY while it runs, so that the engine retries and no resource is held in between. */
export async function awaitJob(context: StepContext, handed: GenerationTask, stage: string): Promise<void> {
  const task = await openTask(
    context,
    handed,
    (known) => hasJobs(context, known, stage) && jobOf(known, stage) !== null,
  );
  const job = jobOf(task, stage);
  if (task.stored || job?.done) return;
  if (job === null) throw new StepError('INTERNAL', 'The stage has no job to poll.');
  const polled = await familyOf(context, task).poll({ task, signal: context.signal, job });
  if (polled.state === 'succeeded') return;
  const body = { epoch: handed.epoch, progress: polled.progress };
  await context.steps.send((steps) =>
    mapServerError(context.server.progress({ params: { id: task.fileId }, body: { ...body, steps } })),
  );
  throw new StepError('NOT_READY', 'The job is still running at the provider.', polled.retryAfterMs);
}
