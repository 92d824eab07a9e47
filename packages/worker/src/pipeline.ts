import type { GenerationTask } from '@review/contract';

/** The steps of a generation. Each looks at the row first, so a run that is resumed falls through to where it was. */
export interface Steps {
  /** Checks everything that can be checked for nothing, and names the paid calls to make. */
  prepare(task: GenerationTask): Promise<{ stages: string[] }>;
  submit(task: GenerationTask, stage: string): Promise<void>;
  awaitJob(task: GenerationTask, stage: string): Promise<void>;
  store(task: GenerationTask): Promise<void>;
  finish(task: GenerationTask): Promise<void>;
  /** Stops what the provider still does, and ends the generation with the reason. */
  abandon(task: GenerationTask, reason: Failure): Promise<void>;
}

/** Why a generation cannot go on, in a form that passes through any engine. */
export interface Failure {
  type: string;
  message: string;
}

/** The whole of a generation, the same under every engine: no clock and no imports, only the order of things. */
export async function generate(
  task: GenerationTask,
  steps: Steps,
  describe: (error: unknown) => Failure,
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
    await steps.abandon(task, describe(error));
  }
}
