import { z } from 'zod';
import type { FalAccount } from '../provider-settings.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import { TOGETHER } from './content-task.ts';
import type { Call, Family, JobRef } from './family.ts';
import type { Host } from './open.ts';
import { dataUri, namedPrompt, type PictureLimits, readPictures } from './references.ts';
import { type Refusal, refused } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { type Answer, ask, refusalByStatus, type VendorApi } from './vendor-api.ts';
import { settingsOf } from './video-settings.ts';

const APP = '/minimax/h3-max';
const POLL_MS = 5000;
const BUSY_MS = 10_000;

const PICTURES: PictureLimits = {
  types: ['image/jpeg', 'image/png', 'image/webp'],
  mostBytes: 30 * 1024 * 1024,
  side: { min: 256, max: 5760 },
  ratio: { min: 0.4, max: 2.5 },
  ...TOGETHER,
};

const Created = z.object({ request_id: z.string().min(1) });
const Status = z.object({
  status: z.enum(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']),
  error: z.string().nullish(),
  error_type: z.string().nullish(),
});
const Result = z.object({ video: z.object({ url: z.url() }) });

/** MiniMax H3 Max in fal's queue; its client is not used, because it repeats an order that was not answered. */
export function fal({ apiKey, queueUrl }: FalAccount, host: Host): Family {
  const api: VendorApi = {
    name: 'fal',
    secrets: [apiKey],
    log: host.log,
    baseUrl: queueUrl,
    headers: { authorization: `Key ${apiKey}` },
    refusalIn,
  };
  const pathOf = ({ id }: JobRef) => `${APP}/requests/${encodeURIComponent(id)}`;
  const look = (call: Call & { job: JobRef }) => ask(api, Status, { path: `${pathOf(call.job)}/status` }, call);

  return {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},
    download: downloadFrom(api),

    async submit(call) {
      const { task } = call;
      const { resolution, durationSeconds, aspectRatio } = settingsOf(task);
      const pictures = await readPictures(call, api.name, PICTURES);
      const body = {
        prompt: namedPrompt(task, (position) => `Image ${position}`),
        resolution: resolution.toUpperCase(),
        duration: durationSeconds,
        aspect_ratio: aspectRatio,
        // The prompt is sent as it was written.
        prompt_expansion_mode: 'disabled',
        ...(pictures.length > 0 && { reference_image_urls: pictures.map(dataUri) }),
      };
      const path = `${APP}/${pictures.length > 0 ? 'reference-to-video' : 'text-to-video'}`;
      const { request_id: id } = await ask(api, Created, { method: 'POST', path, body, paid: true }, call);
      return { job: { id } };
    },

    async poll(call) {
      const { status, error, error_type: kind } = await look(call);
      if (status === 'IN_QUEUE') return { state: 'running', progress: 0, retryAfterMs: POLL_MS };
      if (status === 'IN_PROGRESS') return { state: 'running', progress: 0.4, retryAfterMs: POLL_MS };
      if (error) throw refused(api, { type: meaningOf(kind ?? '') ?? 'PROVIDER_FAILED', words: error }, call.task);
      // What it found wrong with the order, it says only here.
      const { video } = await ask(api, Result, { path: pathOf(call.job) }, call);
      return { state: 'succeeded', output: { url: video.url } };
    },

    async cancel(call) {
      if ((await look(call)).status === 'COMPLETED') return;
      await ask(api, z.unknown(), { method: 'PUT', path: `${pathOf(call.job)}/cancel` }, call);
    },

    async probe(signal) {
      const path = `${pathOf(NOBODYS_REQUEST)}/status`;
      await ask(api, z.unknown(), { path }, { signal }).catch((error: unknown) => {
        // It has nothing to list: but a request that is not there is found missing only by those who may look.
        if (!(error instanceof StepError) || error.type !== 'RESULT_EXPIRED') throw error;
      });
      return 'fal accepts the key';
    },
  };
}

const NOBODYS_REQUEST: JobRef = { id: '00000000-0000-0000-0000-000000000000' };

const meaningOf = (kind: string): StepErrorType | undefined =>
  kind === 'content_policy_violation' ? 'CONTENT_POLICY' : undefined;

const Refused = z.object({
  detail: z.union([z.string(), z.array(z.object({ msg: z.string(), type: z.string() })).min(1)]),
});

function refusalIn(answer: Answer): Refusal | null {
  const byStatus = refusalByStatus(answer);
  if (byStatus === null) return null;
  const said = Refused.safeParse(answer.body).data?.detail;
  const words = typeof said === 'string' ? said : said?.map(({ msg }) => msg).join('; ');
  const kind = typeof said === 'string' ? '' : (said?.[0]?.type ?? '');
  const delayMs = byStatus.type === 'RATE_LIMITED' ? BUSY_MS : undefined;
  if (answer.status === 403 && /balance/i.test(words ?? '')) return { type: 'BALANCE', words };
  if (answer.status === 404) return { type: 'RESULT_EXPIRED', words };
  return { type: meaningOf(kind) ?? byStatus.type, words: words ?? byStatus.words, delayMs };
}
