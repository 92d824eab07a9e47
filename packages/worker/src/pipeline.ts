import type { GenerationTask, StepRecord } from '@review/contract';

/** A record of an attempt that the server does not have yet. */
export interface UnsentStep extends Omit<StepRecord, 'ago'> {
  /** In milliseconds on the clock of the worker. */
  endedAt: number;
}

/** What a step passes on. Activities of earlier releases return nothing. */
export interface Handover {
  /** Records for the next report to the server. */
  unsent: UnsentStep[];
  /** The step has finished the generation too. */
  ended?: boolean;
}

/**
 * The steps of a generation. Each goes by the row, so that a resumed run skips the steps that are done. `unsent` is what the
 * step before has passed on.
 */
export interface Steps {
  /** Validates the task without a paid call, and returns the stages to submit. */
  prepare(task: GenerationTask): Promise<Handover & { stages: string[] }>;
  submit(task: GenerationTask, stage: string, unsent?: UnsentStep[]): Promise<Handover>;
  awaitJob(task: GenerationTask, stage: string, unsent?: UnsentStep[]): Promise<Handover>;
  store(task: GenerationTask, unsent?: UnsentStep[]): Promise<Handover>;
  finish(task: GenerationTask, unsent?: UnsentStep[]): Promise<Handover>;
  /** Cancels running jobs at the provider, and fails the generation with the reason. */
  abandon(task: GenerationTask, reason: Failure): Promise<void>;
}

/** Why a generation fails, in a form that every engine can serialize. */
export interface Failure {
  type: string;
  message: string;
}

/** Runs the steps in order, the same under every engine. Deterministic: no clock and no imports, as Temporal requires. */
export async function generate(
  task: GenerationTask,
  steps: Steps,
  toFailure: (error: unknown) => Failure,
): Promise<void> {
  try {
    const prepared = await steps.prepare(task);
    let last: Handover | undefined = prepared;
    for (const stage of prepared.stages) {
      last = await steps.submit(task, stage, last?.unsent);
      last = await steps.awaitJob(task, stage, last?.unsent);
    }
    last = await steps.store(task, last?.unsent);
    if (!last?.ended) await steps.finish(task, last?.unsent);
  } catch (error) {
    await steps.abandon(task, toFailure(error));
  }
}
