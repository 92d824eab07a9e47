import type { GenerationStep } from '@review/contract';

/** What the steps of the pipeline do, in its order. */
const STEPS: Record<string, { label: string; next?: string }> = {
  prepare: { label: 'Check the request', next: 'submit' },
  submit: { label: 'Submit', next: 'awaitJob' },
  awaitJob: { label: 'Await job', next: 'store' },
  store: { label: 'Store the result', next: 'finish' },
  finish: { label: 'Finish' },
  abandon: { label: 'Clean up' },
};

/** `awaitJob` of a newer service becomes "Await job". */
const words = (name: string) => {
  const spaced = name.replace(/([a-z])([A-Z])|[-_]/g, '$1 $2').toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
};
export const stepLabel = (name: string): string => STEPS[name]?.label ?? words(name);

/** A step with the time since the end of the one before it. */
export interface TimedStep extends GenerationStep {
  since: string;
}

/**
 * Adds to each step the time from which it lasted. The service records only the last of the requests that ask for the state of a
 * job, but the step lasts since the end of the one before.
 */
export const timed = (steps: readonly GenerationStep[]): TimedStep[] =>
  steps.map((step, index) => {
    const before = steps[index - 1];
    const follows = before?.outcome === 'SUCCEEDED' && before.finishedAt !== null;
    return {
      ...step,
      since: step.name === 'awaitJob' && follows ? (before.finishedAt ?? step.startedAt) : step.startedAt,
    };
  });

/** The step that runs now, which the service records at its end, and since when. */
export function runningStep(steps: readonly GenerationStep[], startedAt: string): { label: string; since: string } {
  const last = steps.at(-1);
  if (last === undefined) return { label: stepLabel('prepare'), since: startedAt };
  if (last.outcome !== 'SUCCEEDED') return { label: stepLabel(last.name), since: last.startedAt };
  return { label: stepLabel(STEPS[last.name]?.next ?? last.name), since: last.finishedAt ?? startedAt };
}
