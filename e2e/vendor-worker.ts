// A worker with one test provider in place of all vendors, at TEST_PROVIDER_URL. Its protocol is that of `startVendor`.
import { stat, writeFile } from 'node:fs/promises';
import { FAMILIES, type Family as FamilyName } from '@review/contract';
import { z } from 'zod';
// From the build, because the worker compares classes, and loads its workflows and programs from there.
import type { Family } from '../packages/worker/dist/families/family.js';
import { retryAfter, wasSent } from '../packages/worker/dist/families/refusal.js';
import { runWorker } from '../packages/worker/dist/run-worker.js';
import { StepError, type StepErrorType } from '../packages/worker/dist/step-error.js';

const Ordered = z.union([z.object({ id: z.string() }), z.object({ content: z.base64() })]);
const State = z.discriminatedUnion('state', [
  z.object({ state: z.literal('running'), progress: z.number().min(0).max(1) }),
  z.object({ state: z.literal('succeeded'), url: z.url(), size: z.number().int() }),
  z.object({ state: z.literal('failed'), reason: z.enum(['policy', 'failed']) }),
]);
const Output = z.union([z.object({ content: z.base64() }), z.object({ url: z.url(), size: z.number().int() })]);

const REFUSALS: Partial<Record<number, StepErrorType>> = {
  400: 'INVALID_INPUT',
  401: 'AUTH',
  402: 'BALANCE',
  403: 'RESULT_EXPIRED',
  404: 'PROVIDER_FAILED',
  422: 'CONTENT_POLICY',
  503: 'TRANSIENT',
};
const POLL_MS = 50;

/**
 * The adapter of the test provider. To the worker it is live: documents and images are synchronous, Kling takes a client
 * job id, and Meshy has two paid stages.
 */
function testVendor(address: string): (name: FamilyName) => Family {
  const timeoutMs = Number(new URL(address).searchParams.get('timeout') ?? 30_000);
  const { origin } = new URL(address);

  async function ask(url: string, init: RequestInit & { signal: AbortSignal }, unknown: StepErrorType) {
    const signal = AbortSignal.any([init.signal, AbortSignal.timeout(timeoutMs)]);
    const response = await fetch(url, { ...init, signal }).catch((error: unknown) => {
      throw new StepError(wasSent(error) ? unknown : 'TRANSIENT', 'The provider did not answer.');
    });
    if (response.ok) return response;
    if (response.status === 429) {
      throw new StepError('RATE_LIMITED', 'The provider limits the request rate.', retryAfter(response.headers));
    }
    throw new StepError(REFUSALS[response.status] ?? unknown, `The provider answered ${response.status}.`);
  }

  async function askFor<T>(
    schema: z.ZodType<T>,
    path: string,
    init: RequestInit & { signal: AbortSignal },
    unknown: StepErrorType = 'TRANSIENT',
  ): Promise<T> {
    const response = await ask(origin + path, init, unknown);
    const parsed = schema.safeParse(await response.json().catch(() => undefined));
    if (!parsed.success) throw new StepError(unknown, 'The answer of the provider is not valid.');
    return parsed.data;
  }

  const family: Family = {
    provider: 'live',
    stages: ({ family: name }) => (name === 'meshy' ? ['preview', 'refine'] : ['submit']),
    check: () => {},

    async submit({ task, stage, clientJobId, signal }) {
      const { fileId, outputType, outputModel, prompt } = task;
      const body = JSON.stringify({ fileId, stage, clientJobId, outputType, outputModel, prompt });
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal };
      const ordered = await askFor(Ordered, '/orders', init, 'AMBIGUOUS_SUBMIT');
      return 'id' in ordered ? { job: { id: ordered.id } } : { done: ordered };
    },

    async poll({ job, signal }) {
      const answer = await askFor(State, `/orders/${encodeURIComponent(job.id)}`, { signal });
      if (answer.state === 'running') return { ...answer, retryAfterMs: POLL_MS };
      if (answer.state === 'succeeded') return { state: 'succeeded', output: { url: answer.url, size: answer.size } };
      if (answer.reason === 'policy') throw new StepError('CONTENT_POLICY', 'The provider refuses the content.');
      throw new StepError('PROVIDER_FAILED', 'The provider failed.');
    },

    async cancel({ job, signal }) {
      await ask(`${origin}/orders/${encodeURIComponent(job.id)}`, { method: 'DELETE', signal }, 'TRANSIENT');
    },

    async download({ output, path, signal }) {
      const wanted = Output.parse(output);
      if ('content' in wanted) return writeFile(path, Buffer.from(wanted.content, 'base64'));
      const response = await ask(wanted.url, { signal }, 'TRANSIENT');
      if (response.body === null) throw new StepError('TRANSIENT', 'The provider sent no content.');
      await writeFile(path, response.body, { signal }).catch(() => {
        throw new StepError('TRANSIENT', 'The connection to the provider broke.');
      });
      const { size } = await stat(path);
      if (size !== wanted.size) {
        throw new StepError('PROVIDER_FAILED', `The provider sent ${size} bytes instead of ${wanted.size}.`);
      }
    },
  };

  const kling: Family = {
    ...family,
    async lookUp({ clientJobId, signal }) {
      const path = `/orders?client=${encodeURIComponent(clientJobId)}`;
      const { id } = await askFor(z.object({ id: z.string().nullable() }), path, { signal });
      return id === null ? null : { job: { id } };
    },
  };
  return (name) => (name === 'kling' ? kling : family);
}

const vendor = testVendor(process.env['TEST_PROVIDER_URL'] ?? '');
await runWorker(process.env, (_settings, sandbox) => ({
  family: (name, provider) => (provider === 'sandbox' ? sandbox : vendor(name)),
  states: FAMILIES.map((family) => ({ family, state: 'live' })),
}));
// As in the worker's own main: Temporal's native library may still wait for a connection that is no longer needed.
process.exit();
