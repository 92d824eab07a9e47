import type { WorkerTask } from '@review/contract';
import { z } from 'zod';
import type { KeyedAccount } from '../provider-settings.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import { address, fields, id, number, text, word } from './answer-fields.ts';
import type { Call, Family, FamilyDescription, Polled } from './family.ts';
import { jobState, type StatusWords } from './job-state.ts';
import { dataUri, type PictureLimits, readPictures, replaceReferences } from './references.ts';
import { type Refusal, toStepError, type Vendor } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { type Answer, bearerApi, callApi } from './vendor-api.ts';

const TEXT = '/openapi/v2/text-to-3d';
const IMAGE = '/openapi/v1/image-to-3d';
const IMAGES = '/openapi/v1/multi-image-to-3d';

/** Holds the path of the submit, because Meshy finds a job only under that path. */
const Ref = z.object({
  id: z.string(),
  path: z.enum([TEXT, IMAGE, IMAGES]),
  stage: z.enum(['preview', 'refine', 'submit']),
});
type Ref = z.infer<typeof Ref>;

const Ordered = z.object({ result: id });
const Task = z.object({
  status: word,
  progress: number,
  created_at: number,
  model_urls: fields({ glb: address }),
  task_error: fields({ message: text }),
});
const WORDS: StatusWords = {
  running: ['PENDING', 'IN_PROGRESS'],
  succeeded: ['SUCCEEDED'],
  failed: ['FAILED', 'CANCELED', 'EXPIRED'],
};

const Complaint = z.object({ message: text, code: text, error_code: text }).catch({});

const PICTURES: PictureLimits = { types: ['image/png', 'image/jpeg'], maxBytes: 20 * 1024 * 1024 };

/** Text to 3D takes two jobs, billed separately: `preview` makes the shape, `refine` its texture. */
const TWO_STAGES = ['preview', 'refine'];

/** Models that Meshy still accepts, but will retire. */
const DEPRECATED: Partial<Record<string, { since: string; successor: string }>> = {
  'meshy-7': { since: '2026-09-18', successor: 'meshy-7.1' },
};

function deprecationOf(model: string): string | null {
  const found = DEPRECATED[model];
  if (found === undefined) return null;
  const map = JSON.stringify({ 'meshy-7': found.successor });
  return `Meshy has deprecated ${model} since ${found.since}; PROVIDER_MODEL_MAP=${map} moves to its successor`;
}

export const meshy: FamilyDescription<KeyedAccount> = {
  keySettings: 'MESHY_API_KEY',
  readAccount: ({ keyed }) => keyed('MESHY_API_KEY', 'MESHY_BASE_URL', 'https://api.meshy.ai'),
  submitSeconds: 60,
  storeSeconds: 600,
  open,
};

function open(account: KeyedAccount, context: AdapterContext): Family {
  const api = bearerApi('Meshy', account, context, refusalIn);
  const deprecation = deprecationOf(context.providerModelId('meshy-7', 'meshy-7'));
  if (deprecation !== null) context.log.warn({ provider: api.name }, deprecation);

  async function order(path: Ref['path'], stage: Ref['stage'], body: object, call: Call, warnings: string[]) {
    const { result } = await callApi(api, Ordered, { method: 'POST', path, body, paid: true }, call);
    const job: Ref = { id: result, path, stage };
    return { job, warnings };
  }

  function orderFromWords(stage: string, call: Call) {
    const { task } = call;
    if (stage === 'refine') {
      const body = { mode: 'refine', preview_task_id: previewOf(task), enable_pbr: true };
      return order(TEXT, 'refine', body, call, []);
    }
    const model = context.providerModelId(task.outputModel, 'latest');
    const prompt = replaceReferences(task, () => '');
    const body = { mode: 'preview', prompt, ai_model: model, target_formats: ['glb'] };
    const warnings = [`Without pictures, Meshy uses its model "${model}" instead of ${task.outputModel}.`];
    return order(TEXT, 'preview', body, call, model === task.outputModel ? [] : warnings);
  }

  async function orderFromPictures(call: Call) {
    const { task } = call;
    const pictures = (await readPictures(call, 'Meshy', PICTURES)).map(dataUri);
    const [first] = pictures;
    const texture = replaceReferences(task, () => '').replace(/\s+/g, ' ');
    const body = {
      ...(pictures.length === 1 ? { image_url: first } : { image_urls: pictures }),
      ai_model: context.providerModelId(task.outputModel, task.outputModel),
      should_texture: true,
      enable_pbr: true,
      target_formats: ['glb'],
      ...(texture !== '' && { texture_prompt: texture }),
    };
    const warnings = ['Meshy takes the shape from the pictures and uses the prompt for the texture only.'];
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
      const found = await callApi(api, Task, { path: `${ref.path}/${encodeURIComponent(ref.id)}` }, call);
      return polled(api, found, ref, call.task);
    },

    async cancel({ job, ...call }) {
      const ref = Ref.parse(job);
      const request = { method: 'DELETE', path: `${ref.path}/${encodeURIComponent(ref.id)}` } as const;
      await callApi(api, z.unknown(), request, call).catch((error: unknown) => {
        // The job no longer exists.
        if (!(error instanceof StepError && error.type === 'RESULT_EXPIRED')) throw error;
      });
    },

    async probe(signal) {
      const { balance } = await callApi(
        api,
        z.object({ balance: z.number() }),
        { path: '/openapi/v1/balance' },
        { signal },
      );
      return [`${balance} credits`, ...(deprecation === null ? [] : [deprecation])].join('; ');
    },

    download: downloadFrom(api),
  };
}

function previewOf({ stages }: WorkerTask): string {
  const preview = Ref.safeParse(stages['preview']?.job);
  if (preview.success) return preview.data.id;
  throw new StepError('INTERNAL', 'The task has no preview job to refine.');
}

function polled(vendor: Vendor, found: z.infer<typeof Task>, { stage }: Ref, task: WorkerTask): Polled {
  const { status, progress = 0, task_error, model_urls } = found;
  const [words, url] = [task_error?.message, model_urls?.glb];
  const state = jobState(vendor, WORDS, { status, hasResult: url !== undefined, hasError: words !== undefined });
  if (state === 'running') {
    const percent = Math.min(100, Math.max(0, progress));
    return { state, progress: progressOf(stage, percent), retryAfterMs: pollInterval(found.created_at, percent) };
  }
  if (state === 'failed') throw toStepError(vendor, failureIn(status, words), task);
  if (stage === 'preview') return { state, output: {} };
  if (url === undefined) throw toStepError(vendor, { type: 'PROVIDER_FAILED', words: 'it made no GLB.' }, task);
  return { state, output: { url } };
}

function failureIn(status: string | undefined, words: string | undefined): Refusal {
  if (status === 'EXPIRED') return { type: 'RESULT_EXPIRED', words };
  if (status === 'CANCELED')
    return { type: 'PROVIDER_FAILED', words: words ?? 'the job was canceled at the provider.' };
  return { type: isModeration(words) ? 'CONTENT_POLICY' : 'PROVIDER_FAILED', words };
}

/** Storing the result is the last fifth of the progress; two stages share the rest. */
function progressOf(stage: Ref['stage'], percent: number): number {
  const share = 0.8 * (percent / 100);
  if (stage === 'submit') return share;
  return stage === 'preview' ? share / 2 : 0.4 + share / 2;
}

/** The poll interval: 5 seconds plus half the job's age, up to 30 seconds. */
function pollInterval(createdAt: number | undefined, percent: number): number {
  if (percent >= 95) return 15_000;
  const age = createdAt === undefined ? 0 : Math.max(0, Date.now() - createdAt);
  return Math.min(30_000, 5000 + age / 2);
}

const isModeration = (words: string | undefined): boolean =>
  /moderat|nsfw|safety|content polic|prohibit/i.test(words ?? '');

const MEANINGS = new Map<string, StepErrorType>([
  ['RateLimitExceeded', 'RATE_LIMITED'],
  ['NoMoreConcurrentTasks', 'RATE_LIMITED'],
  ['TooManyPendingTasks', 'RATE_LIMITED'],
  ['LimitExceeded', 'RATE_LIMITED'],
  ['InsufficientCredits', 'BALANCE'],
  ['400', 'INVALID_INPUT'],
  ['401', 'AUTH'],
  ['402', 'BALANCE'],
  ['403', 'AUTH'],
  ['404', 'RESULT_EXPIRED'],
  ['422', 'INVALID_INPUT'],
  ['429', 'RATE_LIMITED'],
]);

/** Looks up the name of an error, or its HTTP status. */
export const meaningOf = (kind: string): StepErrorType | undefined => MEANINGS.get(kind);

function refusalIn({ status, body }: Answer): Refusal | null {
  if (status < 300) return null;
  const { message, code, error_code } = Complaint.parse(body);
  const kind = code ?? error_code ?? message ?? '';
  const words = message ?? code ?? error_code;
  const type = meaningOf(kind) ?? meaningOf(String(status));
  if (type === undefined) return null;
  return { type: type === 'INVALID_INPUT' && isModeration(words) ? 'CONTENT_POLICY' : type, words };
}
