import type { GenerateVideosConfig, GenerateVideosSource, Image, VideoGenerationReferenceType } from '@google/genai';
import type { WorkerTask } from '@review/contract';
import { z } from 'zod';
import type { KeyedAccount } from '../provider-settings.ts';
import type { StepErrorType } from '../step-error.ts';
import { providerModels } from './account-models.ts';
import type { AdapterContext } from './adapter-context.ts';
import { address, entries, fields, flag, number, text } from './answer-fields.ts';
import type { Call, Family, FamilyDescription, JobRef } from './family.ts';
import { callGoogle, GOOGLE_KEY_SETTING, googleClient, isPolicy, probeGoogle, readGoogleAccount } from './google.ts';
import { type PictureLimits, type Reference, readPictures, replaceReferences } from './references.ts';
import { type Refusal, toStepError } from './refusal.ts';
import { downloadResult } from './result.ts';
import { settingsOf } from './video-settings.ts';

const LIMITS: PictureLimits = { types: ['image/png', 'image/jpeg'], maxBytes: 20 * 1024 * 1024 };
const POLL_MS = 10_000;
const TYPICAL_MS = 90_000;

const Ordered = z.object({ name: z.string().min(1) });
const Operation = z.object({
  done: flag,
  error: fields({ code: number, message: text }),
  response: fields({
    generatedVideos: entries({ video: fields({ uri: address }) }),
    raiMediaFilteredReasons: z.array(text).catch([]),
    raiMediaFilteredCount: number,
  }),
});
const Output = z.object({ uri: z.url() });

/** Google Veo. A submit returns an operation to poll. A job cannot be canceled, and its video always has sound. */
export const veo: FamilyDescription<KeyedAccount> = {
  keySettings: GOOGLE_KEY_SETTING,
  readAccount: readGoogleAccount,
  submitSeconds: 60,
  storeSeconds: 900,
  open,
};

function open(account: KeyedAccount, context: AdapterContext): Family {
  const vendor = { name: 'Veo', secrets: [account.apiKey], log: context.log, baseUrl: account.baseUrl };
  const client = googleClient(account);

  async function order({ task, signal }: Call, pictures: readonly Reference[]): Promise<string> {
    const { models } = await client();
    const { VideoGenerationReferenceType } = await import('@google/genai');
    const { source, config } = orderOf(task, pictures, VideoGenerationReferenceType.ASSET);
    const model = context.providerModelId(task.outputModel, task.outputModel);
    const answer = await models.generateVideos({ model, source, config: { ...config, abortSignal: signal } });
    return Ordered.parse(answer).name;
  }

  async function look(job: JobRef, signal: AbortSignal): Promise<z.infer<typeof Operation>> {
    const { operations } = await client();
    const { GenerateVideosOperation } = await import('@google/genai');
    const operation = new GenerateVideosOperation();
    operation.name = job.id;
    return Operation.parse(await operations.getVideosOperation({ operation, config: { abortSignal: signal } }));
  }

  return {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},

    async submit(call) {
      const pictures = await readPictures(call, vendor.name, LIMITS);
      const id = await callGoogle(vendor, { task: call.task, kind: 'order' }, () => order(call, pictures));
      return { job: { id, orderedAt: Date.now() } };
    },

    async poll({ task, job, signal }) {
      const { done, error, response } = await callGoogle(vendor, { task, kind: 'look' }, () => look(job, signal));
      const uri = response?.generatedVideos.find(({ video }) => video?.uri !== undefined)?.video?.uri;
      const ended = done ?? (uri !== undefined || error !== undefined);
      if (!ended) return { state: 'running', progress: estimateProgress(job), retryAfterMs: POLL_MS };
      if (uri !== undefined) return { state: 'succeeded', output: { uri } };
      throw toStepError(vendor, error === undefined ? filteredIn(response) : failureIn(error), task);
    },

    async download({ output, path, signal, onProgress }) {
      const { uri } = Output.parse(output);
      const key = { origin: new URL(account.baseUrl).origin, headers: { 'x-goog-api-key': account.apiKey } };
      await downloadResult(vendor, { url: uri, path, signal, onProgress, key });
    },

    probe: (signal) => probeGoogle(vendor, client, providerModels('veo', context), signal),
  };
}

const isLite = ({ outputModel }: WorkerTask): boolean => outputModel === 'veo-3.1-lite-generate-preview';

/** The lite model takes pictures as the first and the last frame, the other models as references. */
function orderOf(task: WorkerTask, pictures: readonly Reference[], referenceType: VideoGenerationReferenceType) {
  const { durationSeconds, aspectRatio, resolution } = settingsOf(task);
  const [first, last] = pictures.map(imageOf);
  const frames = isLite(task);
  const source: GenerateVideosSource = {
    prompt: replaceReferences(
      task,
      (position) => (frames ? FRAMES[position - 1] : undefined) ?? `reference image ${position}`,
    ),
    ...(frames && first && { image: first }),
  };
  const config: GenerateVideosConfig = { numberOfVideos: 1, durationSeconds, aspectRatio, resolution };
  if (frames && last) config.lastFrame = last;
  if (!frames && pictures.length > 0)
    config.referenceImages = pictures.map((picture) => ({ image: imageOf(picture), referenceType }));
  return { source, config };
}

const FRAMES = ['the first frame', 'the last frame'];

const imageOf = ({ bytes, mimeType }: Reference): Image => ({ imageBytes: bytes.toString('base64'), mimeType });

/** Estimates the progress from the elapsed time, because Veo does not report it. */
function estimateProgress({ orderedAt }: JobRef): number {
  const elapsed = Math.max(0, Date.now() - (typeof orderedAt === 'number' ? orderedAt : Date.now()));
  return (0.8 * elapsed) / (elapsed + TYPICAL_MS);
}

/** Google's canonical codes, as a failed job reports them. None is retried, because the job has ended. */
const BY_CODE: Partial<Record<number, StepErrorType>> = {
  1: 'PROVIDER_FAILED',
  2: 'PROVIDER_FAILED',
  3: 'INVALID_INPUT',
  4: 'PROVIDER_FAILED',
  5: 'PROVIDER_FAILED',
  6: 'PROVIDER_FAILED',
  7: 'AUTH',
  8: 'PROVIDER_FAILED',
  9: 'INVALID_INPUT',
  10: 'PROVIDER_FAILED',
  11: 'INVALID_INPUT',
  12: 'PROVIDER_FAILED',
  13: 'PROVIDER_FAILED',
  14: 'PROVIDER_FAILED',
  15: 'PROVIDER_FAILED',
  16: 'AUTH',
};

export const meaningOf = (code: number): StepErrorType | undefined => BY_CODE[code];

function failureIn({ code = 2, message }: { code?: number | undefined; message?: string | undefined }): Refusal {
  const words = message ?? `it failed with code ${code}.`;
  if (isPolicy(words)) return { type: 'CONTENT_POLICY', words };
  return { type: meaningOf(code) ?? 'PROVIDER_FAILED', words };
}

function filteredIn(response: z.infer<typeof Operation>['response']): Refusal {
  const { raiMediaFilteredReasons: reasons = [], raiMediaFilteredCount: count = 0 } = response ?? {};
  const words = reasons.filter((reason) => reason !== undefined).join(' ');
  if (words !== '') return { type: 'CONTENT_POLICY', words };
  return count > 0 ? { type: 'CONTENT_POLICY' } : { type: 'PROVIDER_FAILED', words: 'it made no video.' };
}
