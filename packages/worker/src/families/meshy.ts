import type { WorkerTask } from '@review/contract';
import { z } from 'zod';
import type { KeyedAccount } from '../provider-settings.ts';
import { StepError } from '../step-error.ts';
import type { Call, Family, Polled } from './family.ts';
import type { Host } from './open.ts';
import { dataUri, namedPrompt, type PictureLimits, readPictures } from './references.ts';
import { type Refusal, refused } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { type Answer, ask, bearerApi } from './vendor-api.ts';

const TEXT = '/openapi/v2/text-to-3d';
const IMAGE = '/openapi/v1/image-to-3d';
const IMAGES = '/openapi/v1/multi-image-to-3d';

/** A job is only known under the path where it was ordered. */
const Ref = z.object({
  id: z.string(),
  path: z.enum([TEXT, IMAGE, IMAGES]),
  stage: z.enum(['preview', 'refine', 'submit']),
});
type Ref = z.infer<typeof Ref>;

const Ordered = z.object({ result: z.string().min(1) });
const Task = z.object({
  status: z.enum(['PENDING', 'IN_PROGRESS', 'SUCCEEDED', 'FAILED', 'CANCELED', 'EXPIRED']),
  progress: z.number().min(0).max(100).catch(0),
  created_at: z.number().optional().catch(undefined),
  model_urls: z
    .object({ glb: z.string().min(1) })
    .optional()
    .catch(undefined),
  task_error: z
    .object({ message: z.string().catch('') })
    .nullish()
    .catch(undefined),
});
const Complaint = z.object({
  message: z.string().optional().catch(undefined),
  code: z.string().optional().catch(undefined),
  error_code: z.string().optional().catch(undefined),
});

const PICTURES: PictureLimits = { types: ['image/png', 'image/jpeg'], mostBytes: 20 * 1024 * 1024 };

/** Shape first, then its surface: from words, Meshy makes and bills a model in two jobs. */
const TWO_STAGES = ['preview', 'refine'];

export function meshy(account: KeyedAccount, host: Host): Family {
  const api = bearerApi('Meshy', account, host, refusalIn);

  async function order(path: Ref['path'], stage: Ref['stage'], body: object, call: Call, warnings: string[]) {
    const { result } = await ask(api, Ordered, { method: 'POST', path, body, paid: true }, call);
    const job: Ref = { id: result, path, stage };
    return { job, warnings };
  }

  function orderFromWords(stage: string, call: Call) {
    const { task } = call;
    if (stage === 'refine') {
      const body = { mode: 'refine', preview_task_id: previewOf(task), enable_pbr: true };
      return order(TEXT, 'refine', body, call, []);
    }
    const model = host.wireId(task.outputModel, 'latest');
    const prompt = namedPrompt(task, () => '');
    const body = { mode: 'preview', prompt, ai_model: model, target_formats: ['glb'] };
    const warnings = [`From words alone, Meshy made this with its model "${model}", not with ${task.outputModel}.`];
    return order(TEXT, 'preview', body, call, model === task.outputModel ? [] : warnings);
  }

  async function orderFromPictures(call: Call) {
    const { task } = call;
    const pictures = (await readPictures(call, 'Meshy', PICTURES)).map(dataUri);
    const [first] = pictures;
    const texture = namedPrompt(task, () => '').replace(/\s+/g, ' ');
    const body = {
      ...(pictures.length === 1 ? { image_url: first } : { image_urls: pictures }),
      ai_model: host.wireId(task.outputModel, task.outputModel),
      should_texture: true,
      enable_pbr: true,
      target_formats: ['glb'],
      ...(texture !== '' && { texture_prompt: texture }),
    };
    const warnings = ['Meshy takes the shape from the pictures and uses the prompt for the surface only.'];
    return order(pictures.length === 1 ? IMAGE : IMAGES, 'submit', body, call, texture === '' ? [] : warnings);
  }

  return {
    provider: 'live',
    stages: ({ attachments }) => (attachments.length === 0 ? TWO_STAGES : ['submit']),
    check: () => {},

    submit: async ({ stage, ...call }) =>
      call.task.attachments.length === 0 ? orderFromWords(stage, call) : orderFromPictures(call),

    async poll({ job, ...call }) {
      const ref = Ref.parse(job);
      const found = await ask(api, Task, { path: `${ref.path}/${encodeURIComponent(ref.id)}` }, call);
      return polled(found, ref, (refusal) => refused(api, refusal, call.task));
    },

    async cancel({ job, ...call }) {
      const ref = Ref.parse(job);
      const request = { method: 'DELETE', path: `${ref.path}/${encodeURIComponent(ref.id)}` } as const;
      await ask(api, z.unknown(), request, call).catch((error: unknown) => {
        // It is gone, which is what was wanted.
        if (!(error instanceof StepError && error.type === 'RESULT_EXPIRED')) throw error;
      });
    },

    async probe(signal) {
      const { balance } = await ask(
        api,
        z.object({ balance: z.number() }),
        { path: '/openapi/v1/balance' },
        { signal },
      );
      return `${balance} credits`;
    },

    download: downloadFrom(api),
  };
}

function previewOf({ stages }: WorkerTask): string {
  const preview = Ref.safeParse(stages['preview']?.job);
  if (preview.success) return preview.data.id;
  throw new StepError('INTERNAL', 'There is no preview that could be refined.');
}

function polled(found: z.infer<typeof Task>, { stage }: Ref, refuse: (refusal: Refusal) => StepError): Polled {
  const words = found.task_error?.message || undefined;
  switch (found.status) {
    case 'PENDING':
    case 'IN_PROGRESS':
      return { state: 'running', progress: progressOf(stage, found.progress), retryAfterMs: nextLook(found) };
    case 'SUCCEEDED':
      if (stage === 'preview') return { state: 'succeeded', output: {} };
      if (found.model_urls === undefined) throw refuse({ type: 'PROVIDER_FAILED', words: 'it made no GLB.' });
      return { state: 'succeeded', output: { url: found.model_urls.glb } };
    case 'EXPIRED':
      throw refuse({ type: 'RESULT_EXPIRED', words });
    case 'CANCELED':
      throw refuse({ type: 'PROVIDER_FAILED', words: words ?? 'the job was canceled there.' });
    case 'FAILED':
      throw refuse({ type: isModeration(words) ? 'CONTENT_POLICY' : 'PROVIDER_FAILED', words });
  }
}

/** Bringing in the result is the last fifth; two stages share the rest. */
function progressOf(stage: Ref['stage'], percent: number): number {
  const share = 0.8 * (percent / 100);
  if (stage === 'submit') return share;
  return stage === 'preview' ? share / 2 : 0.4 + share / 2;
}

/** Looks that grow by half each time, from 5 to 30 seconds, are as far apart as this by the age of the job. */
function nextLook({ created_at, progress }: z.infer<typeof Task>): number {
  if (progress >= 95) return 15_000;
  const age = created_at === undefined ? 0 : Math.max(0, Date.now() - created_at);
  return Math.min(30_000, 5000 + age / 2);
}

const isModeration = (words: string | undefined): boolean =>
  /moderat|nsfw|safety|content polic|prohibit/i.test(words ?? '');

function refusalIn({ status, body }: Answer): Refusal | null {
  if (status < 300) return null;
  const { message, code, error_code } = Complaint.catch({}).parse(body ?? {});
  const kind = code ?? error_code ?? '';
  const words = message ?? (kind || undefined);
  if (status === 429 || /TooManyPendingTasks|LimitExceeded|NoMoreConcurrentTasks/.test(kind)) {
    return { type: 'RATE_LIMITED', words };
  }
  if (status === 402 || kind === 'InsufficientCredits') return { type: 'BALANCE', words };
  if (status === 401 || status === 403) return { type: 'AUTH', words };
  if (status === 404) return { type: 'RESULT_EXPIRED', words };
  if (status === 400 || status === 422)
    return { type: isModeration(words) ? 'CONTENT_POLICY' : 'INVALID_INPUT', words };
  return null;
}
