import type { GenerationTask } from '@review/contract';
import type { Failure, Handover } from '../pipeline.ts';
import { StepError } from '../step-error.ts';
import type { StepContext } from '../steps/context.ts';
import type { StepLog } from '../steps/step-log.ts';

type Context = Pick<StepContext, 'server' | 'log' | 'metrics'>;

/** What the function of a step returns. */
export type StepAnswer = { stages?: string[]; ended?: boolean } | void;

/** Steps that end the generation: the server records their success itself. */
const ENDS: ReadonlySet<string> = new Set(['finish', 'abandon']);

/** Counts a success in the metrics, and returns the answer with the records that the next step has to send. */
export function noteSuccess<T extends StepAnswer>(
  { metrics }: Context,
  { family }: GenerationTask,
  steps: StepLog,
  answer: T,
): T & Handover {
  metrics.countStep(family, steps.name, 'SUCCEEDED', steps.milliseconds);
  if (answer?.ended) metrics.countStep(family, 'finish', 'SUCCEEDED', 0);
  if (!ENDS.has(steps.name)) steps.add('SUCCEEDED', null);
  return { ...answer, unsent: steps.unsent };
}

/**
 * Counts a failed attempt in the metrics, and records it at once, because the next attempt may be late. A failure to record it
 * is only logged. An attempt that `WAITED` is repeated and does not count, and is not recorded.
 */
export async function noteFailure(
  { server, log, metrics }: Context,
  { fileId, family, epoch }: GenerationTask,
  steps: StepLog,
  outcome: 'RETRIED' | 'FAILED' | 'WAITED',
  message: string,
): Promise<void> {
  metrics.countStep(family, steps.name, outcome, steps.milliseconds);
  if (outcome === 'WAITED') return;
  steps.add(outcome, message);
  await steps
    .send((records) => server.recordSteps({ params: { id: fileId }, body: { epoch, steps: records } }))
    .catch((error: unknown) => log.debug({ err: error }, 'step was not recorded'));
}

export function toFailure(error: unknown): Failure {
  if (error instanceof StepError) return { type: error.type, message: error.message };
  // Errors of libraries may contain paths and addresses, so only the log gets their text.
  return { type: 'INTERNAL', message: 'The worker failed. Its log has the reason.' };
}
