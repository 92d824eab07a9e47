import type { GenerationTask } from '@review/contract';

/** The steps of a generation. Each reads the row first, so that a resumed run skips the steps that are done. */
export interface Steps {
  /** Validates the task without a paid call, and returns the stages to submit. */
  prepare(task: GenerationTask): Promise<{ stages: string[] }>;
  submit(task: GenerationTask, stage: string): Promise<void>;
  awaitJob(task: GenerationTask, stage: string): Promise<void>;
  store(task: GenerationTask): Promise<void>;
  finish(task: GenerationTask): Promise<void>;
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
    const { stages } = await steps.prepare(task);
    for (const stage of stages) {
      await steps.submit(task, stage);
      await steps.awaitJob(task, stage);
    }
    await steps.store(task);
    await steps.finish(task);
  } catch (error) {
    await steps.abandon(task, toFailure(error));
  }
}
