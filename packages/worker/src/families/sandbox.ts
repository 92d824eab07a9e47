import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { renderSandbox } from '../sandbox/render.ts';
import { StepError } from '../step-error.ts';
import type { Family, JobRef } from './family.ts';

/** Markers in a prompt that make the sandbox fail, so that failures can be tried without a provider. */
const SENTINELS = {
  fail: '[fail]',
  moderated: '[moderated]',
  slow: '[slow]',
  stall: '[stall]',
  garbage: '[garbage]',
} as const;

const SLOW_MS = 30_000;
const POLL_MS = 250;

/** The sandbox provider, for families without a key. It keeps no state: the job reference holds the start time. */
export function sandboxFamily(settings: { jobMs: number; now: () => number }): Family {
  const durationOf = (prompt: string) => {
    if (prompt.includes(SENTINELS.stall)) return Number.POSITIVE_INFINITY;
    return prompt.includes(SENTINELS.slow) ? SLOW_MS : settings.jobMs;
  };
  const fractionOf = (job: JobRef, prompt: string) => {
    const startedAt = typeof job['startedAt'] === 'number' ? job['startedAt'] : 0;
    const [passed, duration] = [settings.now() - startedAt, durationOf(prompt)];
    // If the clock was set back, the job counts as finished.
    return passed < 0 || duration === 0 ? 1 : Math.min(1, passed / duration);
  };
  return {
    provider: 'sandbox',
    stages: () => ['submit'],
    check: () => {},

    async submit({ task }) {
      if (task.prompt.includes(SENTINELS.moderated)) {
        throw new StepError('CONTENT_POLICY', 'The sandbox refused the prompt, as its marker [moderated] asks.');
      }
      return { job: { id: `sandbox-${randomUUID()}`, startedAt: settings.now() } };
    },

    async poll({ task, job }) {
      const fraction = fractionOf(job, task.prompt);
      if (fraction < 1) return { state: 'running', progress: fraction * 0.8, retryAfterMs: POLL_MS };
      if (task.prompt.includes(SENTINELS.fail))
        throw new StepError('PROVIDER_FAILED', 'The sandbox failed, as the marker [fail] asks.');
      return { state: 'succeeded', output: {} };
    },

    async download({ task, path, signal, onProgress }) {
      if (task.prompt.includes(SENTINELS.garbage)) {
        await writeFile(path, Buffer.alloc(1000));
        return;
      }
      const { outputType, outputModel, prompt, configs, attachments } = task;
      const references = attachments.map(({ id, content }) => ({ name: content?.name ?? id }));
      const request = { outputType, outputModel, prompt, settings: configs, references };
      await renderSandbox(request, path, { signal, onProgress });
    },
  };
}
