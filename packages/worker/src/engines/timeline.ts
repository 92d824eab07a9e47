import type { GenerationTask } from '@review/contract';
import type { Failure } from '../pipeline.ts';
import { StepError } from '../step-error.ts';
import type { StepContext } from '../steps/context.ts';

export interface Attempt {
  name: string;
  attempt: number;
  /** `WAITED`: nobody's failure, and made again until there is an answer. */
  outcome: 'SUCCEEDED' | 'RETRIED' | 'FAILED' | 'WAITED';
  message: string | null;
  milliseconds: number;
}

/** In characters; the server takes no more than four times this. */
const MAX_MESSAGE = 1000;

/** Steps after which the generation has ended: the server notes the end itself. */
const ENDS: ReadonlySet<string> = new Set(['finish', 'abandon']);

/** Counted always, and told to the server where people would look for it; that it cannot be told stops nothing. */
export async function recordStep(
  { server, log, metrics }: Pick<StepContext, 'server' | 'log' | 'metrics'>,
  { fileId, family, epoch }: GenerationTask,
  { outcome, ...attempt }: Attempt,
): Promise<void> {
  metrics.countStep(family, attempt.name, outcome, attempt.milliseconds);
  if (outcome === 'WAITED' || (outcome === 'SUCCEEDED' && ENDS.has(attempt.name))) return;
  const message = attempt.message?.slice(0, MAX_MESSAGE) ?? null;
  await server
    .recordStep({ params: { id: fileId }, body: { epoch, outcome, ...attempt, message } })
    .catch((error: unknown) => log.debug({ err: error }, 'a step was not recorded'));
}

export function describe(error: unknown): Failure {
  if (error instanceof StepError) return { type: error.type, message: error.message };
  // What a library or the host says may name paths and addresses: it is for the log.
  return { type: 'INTERNAL', message: 'Something failed in the worker; its log says what.' };
}
