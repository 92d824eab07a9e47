import type { GenerationTask } from '@review/contract';
import { StepError } from '../step-error.ts';
import { familyOf, jobOf, orLost, readOpenTask, type StepContext } from './context.ts';

/** One look at the job: not ready is an error that the engine repeats, so that nothing is held while it waits. */
export async function awaitJob(context: StepContext, handed: GenerationTask, stage: string): Promise<void> {
  const task = await readOpenTask(context, handed);
  const job = jobOf(task, stage);
  if (task.stored || job?.done) return;
  if (job === null) throw new StepError('INTERNAL', 'There is no job to wait for.');
  const polled = await familyOf(context, task).poll({ task, signal: context.signal, job });
  if (polled.state === 'succeeded') return;
  const { server } = context;
  await orLost(
    server.progress({ params: { id: task.fileId }, body: { epoch: handed.epoch, progress: polled.progress } }),
  );
  throw new StepError('NOT_READY', 'The provider is still at it.', polled.retryAfterMs);
}
