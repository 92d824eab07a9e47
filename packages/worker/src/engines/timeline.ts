import type { GenerationTask } from '@review/contract';
import type { Failure } from '../pipeline.ts';
import { StepError } from '../step-error.ts';
import type { StepContext } from '../steps/context.ts';

export interface Attempt {
  name: string;
  attempt: number;
  /** `WAITED`: the attempt is repeated and does not count. */
  outcome: 'SUCCEEDED' | 'RETRIED' | 'FAILED' | 'WAITED';
  message: string | null;
  milliseconds: number;
}

/** In characters. The server accepts 4000. */
const MAX_MESSAGE = 1000;

/** Steps that end the generation: the server records their success itself. */
const ENDS: ReadonlySet<string> = new Set(['finish', 'abandon']);

/** Counts an attempt in the metrics, and records it in the server's timeline. A failure to record it is only logged. */
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
    .catch((error: unknown) => log.debug({ err: error }, 'step was not recorded'));
}

export function toFailure(error: unknown): Failure {
  if (error instanceof StepError) return { type: error.type, message: error.message };
  // Errors of libraries may contain paths and addresses, so only the log gets their text.
  return { type: 'INTERNAL', message: 'The worker failed. Its log has the reason.' };
}
