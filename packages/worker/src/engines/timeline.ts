import type { GenerationStep, GenerationTask } from '@review/contract';
import type { Failure } from '../pipeline.ts';
import { StepError } from '../step-error.ts';
import type { StepContext } from '../steps/context.ts';

export interface Attempt {
  name: string;
  attempt: number;
  outcome: GenerationStep['outcome'];
  message: string | null;
  milliseconds: number;
}

/** The timeline is for people: that it cannot be written stops nothing. */
export async function recordStep(
  { server, log }: Pick<StepContext, 'server' | 'log'>,
  { fileId, epoch }: GenerationTask,
  attempt: Attempt,
): Promise<void> {
  await server
    .recordStep({ params: { id: fileId }, body: { epoch, ...attempt } })
    .catch((error: unknown) => log.debug({ err: error }, 'a step was not recorded'));
}

export function describe(error: unknown): Failure {
  if (error instanceof StepError) return { type: error.type, message: error.message };
  return { type: 'INTERNAL', message: error instanceof Error ? error.message : String(error) };
}
