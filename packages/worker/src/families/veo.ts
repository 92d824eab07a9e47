import type { GenerateVideosConfig, GenerateVideosSource, Image, VideoGenerationReferenceType } from '@google/genai';
import type { WorkerTask } from '@review/contract';
import { z } from 'zod';
import type { KeyedAccount } from '../provider-settings.ts';
import type { StepErrorType } from '../step-error.ts';
import { wireModels } from './account-models.ts';
import type { Call, Family, JobRef } from './family.ts';
import { callGoogle, googleClient, isPolicy, probeGoogle } from './google.ts';
import type { Host } from './open.ts';
import { namedPrompt, type PictureLimits, type Reference, readPictures } from './references.ts';
import { type Refusal, refused } from './refusal.ts';
import { downloadResult } from './result.ts';
import { settingsOf } from './video-settings.ts';

const LIMITS: PictureLimits = { types: ['image/png', 'image/jpeg'], mostBytes: 20 * 1024 * 1024 };
const POLL_MS = 10_000;
const TYPICAL_MS = 90_000;

const Ordered = z.object({ name: z.string().min(1) });
const Operation = z.object({
  done: z.boolean().optional(),
  error: z.object({ code: z.number().optional(), message: z.string().optional() }).optional(),
  response: z
    .object({
      generatedVideos: z.array(z.object({ video: z.object({ uri: z.url() }) })).optional(),
      raiMediaFilteredReasons: z.array(z.string()).optional(),
      raiMediaFilteredCount: z.number().optional(),
    })
    .optional(),
});
const Output = z.object({ uri: z.url() });

/** Google's videos: an order, then a job by the name of its operation. It cannot be stopped, and always has sound. */
export function veo(account: KeyedAccount, host: Host): Family {
  const vendor = { name: 'Veo', secrets: [account.apiKey], log: host.log, baseUrl: account.baseUrl };
  const client = googleClient(account);

  async function order({ task, signal }: Call, pictures: readonly Reference[]): Promise<string> {
    const { models } = await client();
    const { VideoGenerationReferenceType } = await import('@google/genai');
    const { source, config } = orderOf(task, pictures, VideoGenerationReferenceType.ASSET);
    const model = host.wireId(task.outputModel, task.outputModel);
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
      if (done !== true) return { state: 'running', progress: guessed(job), retryAfterMs: POLL_MS };
      const uri = response?.generatedVideos?.[0]?.video.uri;
      if (uri !== undefined) return { state: 'succeeded', output: { uri } };
      throw refused(vendor, error ? failureIn(error) : filteredIn(response), task);
    },

    async download({ output, path, signal, onProgress }) {
      const { uri } = Output.parse(output);
      const key = { origin: new URL(account.baseUrl).origin, headers: { 'x-goog-api-key': account.apiKey } };
      await downloadResult(vendor, { url: uri, path, signal, onProgress, key });
    },

    probe: (signal) => probeGoogle(vendor, client, wireModels('veo', host), signal),
  };
}

const isLite = ({ outputModel }: WorkerTask): boolean => outputModel === 'veo-3.1-lite-generate-preview';

/** The small model takes the first and the last frame, the large one pictures of what is to be seen. */
function orderOf(task: WorkerTask, pictures: readonly Reference[], referenceType: VideoGenerationReferenceType) {
  const { durationSeconds, aspectRatio, resolution } = settingsOf(task);
  const [first, last] = pictures.map(imageOf);
  const frames = isLite(task);
  const source: GenerateVideosSource = {
    prompt: namedPrompt(
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

/** It tells nothing of its progress: what is shown only grows with the time. */
function guessed({ orderedAt }: JobRef): number {
  const elapsed = Math.max(0, Date.now() - (typeof orderedAt === 'number' ? orderedAt : Date.now()));
  return (0.8 * elapsed) / (elapsed + TYPICAL_MS);
}

const BY_CODE: Record<number, StepErrorType> = { 3: 'INVALID_INPUT', 9: 'INVALID_INPUT', 7: 'AUTH', 16: 'AUTH' };

/** A job that has ended stays so: what would pass by itself elsewhere is a failure here, and nothing is ordered again. */
function failureIn({ code = 2, message = '' }: { code?: number | undefined; message?: string | undefined }): Refusal {
  const words = message || `it failed with code ${code}.`;
  if (isPolicy(words)) return { type: 'CONTENT_POLICY', words };
  return { type: BY_CODE[code] ?? 'PROVIDER_FAILED', words };
}

function filteredIn(response: z.infer<typeof Operation>['response']): Refusal {
  const { raiMediaFilteredReasons: reasons = [], raiMediaFilteredCount: count = 0 } = response ?? {};
  if (reasons.length > 0) return { type: 'CONTENT_POLICY', words: reasons.join(' ') };
  return count > 0 ? { type: 'CONTENT_POLICY' } : { type: 'PROVIDER_FAILED', words: 'it made no video.' };
}
