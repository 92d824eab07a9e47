import type { WorkerTask } from '@review/contract';
import { z } from 'zod';
import type { KeyedAccount } from '../provider-settings.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import { address, entries, id, text, word } from './answer-fields.ts';
import type { Call, Family, FamilyDescription, Ordered } from './family.ts';
import { jobState, type StatusWords } from './job-state.ts';
import { type PictureLimits, type Reference, readPictures, replaceReferences } from './references.ts';
import { type Refusal, toStepError } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { type Answer, bearerApi, callApi, refusalByStatus } from './vendor-api.ts';
import { settingsOf } from './video-settings.ts';

const PICTURES: PictureLimits = {
  types: ['image/jpeg', 'image/png'],
  maxBytes: 50 * 1024 * 1024,
  side: { min: 300 },
  ratio: { min: 0.4, max: 2.5 },
};

const POLL_MS = 10_000;
/** The delay after a rate limit: a running task holds its slot until it ends. */
const BUSY_MS = 5000;
/** How long a new task may be missing from the list before it counts as expired. */
const UNSEEN_MS = 120_000;
/** The turbo model's prompt limit with a picture, which is lower than without. */
const TURBO_CHARACTERS_WITH_PICTURE = 2500;

/** The delay before the next lookup of a task that is reported as a duplicate but not listed yet. */
const DUPLICATE_MS = 5000;

const Created = z.object({ data: z.object({ id }) });
const Tasks = z.object({
  data: entries({ id: text, status: word, message: text, outputs: entries({ type: word, url: address }) }),
});
const WORDS: StatusWords = {
  running: ['submitted', 'processing'],
  succeeded: ['succeeded', 'succeed'],
  failed: ['failed'],
};
const Since = z.object({ orderedAt: z.number().catch(0) });

/** Kling's API of 2026: the path names the model, and a task can be looked up by its `external_task_id`. */
export const kling: FamilyDescription<KeyedAccount> = {
  keySettings: 'KLING_API_KEY',
  readAccount: ({ keyed }) => keyed('KLING_API_KEY', 'KLING_BASE_URL', 'https://api-singapore.klingai.com'),
  submitSeconds: 60,
  storeSeconds: 900,
  open,
};

function open(account: KeyedAccount, context: AdapterContext): Family {
  const api = bearerApi('Kling', account, context, refusalIn);

  async function lookUp(call: Call & { clientJobId: string }): Promise<Ordered | null> {
    const { data } = await callApi(
      api,
      Tasks,
      { path: `/tasks?external_task_ids=${encodeURIComponent(call.clientJobId)}` },
      call,
    );
    const found = data.find((task) => task.id !== undefined)?.id;
    return found === undefined ? null : ordered(found, call.task);
  }

  return {
    provider: 'live',
    stages: () => ['submit'],
    lookUp,
    download: downloadFrom(api),

    check({ outputModel, prompt, attachments }) {
      const characters = Array.from(prompt).length;
      if (outputModel !== 'kling-3.0-turbo' || attachments.length === 0) return;
      if (characters <= TURBO_CHARACTERS_WITH_PICTURE) return;
      throw new StepError(
        'INVALID_INPUT',
        `${outputModel} takes prompts of at most ${TURBO_CHARACTERS_WITH_PICTURE} characters with an attachment; this one has ${characters}.`,
      );
    },

    async submit(call) {
      const { task, clientJobId } = call;
      const pictures = await readPictures(call, api.name, PICTURES);
      const model = encodeURIComponent(context.providerModelId(task.outputModel, task.outputModel));
      const body = {
        ...contentOf(task, pictures),
        settings: settingsFor(task),
        options: { external_task_id: clientJobId, watermark_info: { enabled: false } },
      };
      try {
        const path = `/${kindOf(task)}/${model}`;
        const { data } = await callApi(api, Created, { method: 'POST', path, body, paid: true }, call);
        return ordered(data.id, task);
      } catch (error) {
        // Kling refuses a duplicate `external_task_id` like any bad parameter: then the task exists already. If it is
        // not listed yet, the next attempt looks again.
        const mayExist = error instanceof StepError && (error.type === 'INVALID_INPUT' || error.type === 'NOT_READY');
        const found = mayExist ? await lookUp(call) : null;
        if (found === null) throw error;
        return found;
      }
    },

    async poll(call) {
      const { data } = await callApi(api, Tasks, { path: `/tasks?task_ids=${encodeURIComponent(call.job.id)}` }, call);
      const [found] = data;
      if (found === undefined) {
        const { orderedAt } = Since.parse(call.job);
        if (Date.now() - orderedAt > UNSEEN_MS) throw toStepError(api, { type: 'RESULT_EXPIRED' }, call.task);
        return { state: 'running', progress: 0, retryAfterMs: POLL_MS };
      }
      // A task has outputs of several types; one without a type counts as the video.
      const url = found.outputs.find((output) => output.url && (output.type ?? 'video') === 'video')?.url;
      // A task has a message in every state, so that it does not indicate a failure.
      const state = jobState(api, WORDS, { status: found.status, hasResult: url !== undefined, hasError: false });
      if (state === 'running') {
        return { state, progress: found.status === 'submitted' ? 0 : 0.4, retryAfterMs: POLL_MS };
      }
      if (state === 'failed') throw toStepError(api, failureIn(found.message ?? ''), call.task);
      if (url === undefined) throw toStepError(api, { type: 'PROVIDER_FAILED', words: 'it made no video.' }, call.task);
      return { state, output: { url } };
    },

    async probe(signal) {
      await callApi(api, Tasks, { path: '/tasks?external_task_ids=probe' }, { signal });
      return 'Kling accepts the key';
    },
  };
}

function kindOf({ outputModel, attachments }: WorkerTask): 'omni-video' | 'image-to-video' | 'text-to-video' {
  if (outputModel === 'kling-3.0-omni') return 'omni-video';
  return attachments.length > 0 ? 'image-to-video' : 'text-to-video';
}

const FRAMES = ['first_frame', 'last_frame'] as const;
const FRAME_NAMES = ['the first frame', 'the last frame'] as const;

/** Pictures are sent as bare base64. Only the omni model can reference them by name in the prompt. */
function contentOf(task: WorkerTask, pictures: Reference[]): object {
  const kind = kindOf(task);
  if (kind === 'text-to-video') return { prompt: replaceReferences(task, () => '') };
  const nameOf = (position: number) =>
    kind === 'omni-video' ? `@image_${position}` : (FRAME_NAMES[position - 1] ?? 'the picture');
  const images = pictures.map(({ bytes }, index) => {
    const url = bytes.toString('base64');
    return kind === 'omni-video'
      ? { type: 'refer_image', url, id: `image_${index + 1}` }
      : { type: FRAMES[index], url };
  });
  return { contents: [{ type: 'prompt', text: replaceReferences(task, nameOf) }, ...images] };
}

/** Sends every setting explicitly: Kling's defaults are multiple shots and no sound. */
function settingsFor(task: WorkerTask): object {
  const { resolution, durationSeconds, aspectRatio, generateAudio } = settingsOf(task);
  return {
    resolution,
    duration: durationSeconds,
    ...(kindOf(task) !== 'image-to-video' && { aspect_ratio: aspectRatio }),
    ...(task.outputModel !== 'kling-3.0-turbo' && { audio: generateAudio ? 'native' : 'off', multi_shot: false }),
  };
}

function ordered(id: string, task: WorkerTask): Ordered {
  const job = { id, orderedAt: Date.now() };
  if (kindOf(task) !== 'image-to-video') return { job };
  const { aspectRatio } = settingsOf(task);
  return { job, warnings: [`The first frame determines the aspect ratio of the video; ${aspectRatio} was ignored.`] };
}

const Said = z.object({ code: text, message: text }).catch({});

/** By code, because status 429 covers rate limits, the balance and access. */
const MEANINGS: Partial<Record<number, StepErrorType>> = {
  1000: 'AUTH',
  1001: 'AUTH',
  1002: 'AUTH',
  1003: 'AUTH',
  1004: 'AUTH',
  1100: 'AUTH',
  1101: 'BALANCE',
  1102: 'BALANCE',
  1103: 'AUTH',
  1200: 'INVALID_INPUT',
  1201: 'INVALID_INPUT',
  1202: 'INVALID_INPUT',
  1203: 'INVALID_INPUT',
  1300: 'CONTENT_POLICY',
  1301: 'CONTENT_POLICY',
  1302: 'RATE_LIMITED',
  1303: 'RATE_LIMITED',
  1304: 'AUTH',
  5000: 'TRANSIENT',
  5001: 'TRANSIENT',
  5002: 'TRANSIENT',
};

export const meaningOf = (code: string): StepErrorType | undefined => MEANINGS[Number(code)];

/** Recognizes a duplicate `external_task_id` by its message, because it has no code of its own. */
const isDuplicate = (words: string): boolean =>
  /external_?(task_?)?id.*(already|duplicat|exist|in use|unique)/i.test(words);

/** Reads the code in the body, because a refusal can have status 200. */
function refusalIn(answer: Answer): Refusal | null {
  const { code = '', message = '' } = Said.parse(answer.body);
  if (!/^\d+$/.test(code) || Number(code) === 0) return null;
  const words = `${message} (${code})`;
  if (code === '1201' && isDuplicate(message)) return { type: 'NOT_READY', words, delayMs: DUPLICATE_MS };
  const type = meaningOf(code) ?? refusalByStatus(answer)?.type ?? 'TRANSIENT';
  return { type, words, delayMs: type === 'RATE_LIMITED' ? BUSY_MS : undefined };
}

/** Classifies a failed task by its message, because it has no code. */
const failureIn = (words: string): Refusal => ({
  type: /risk|polic|sensitive|safety|moderat|violat|prohibit/i.test(words) ? 'CONTENT_POLICY' : 'PROVIDER_FAILED',
  words,
});
