import type { WorkerTask } from '@review/contract';
import { z } from 'zod';
import type { KeyedAccount, MinimaxAccount } from '../provider-settings.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import { contentOf, polledFrom, TaskStatus, TOGETHER } from './content-task.ts';
import { fal } from './fal.ts';
import type { Call, Family, JobRef } from './family.ts';
import type { Host } from './open.ts';
import { namedPrompt, type PictureLimits, readPictures } from './references.ts';
import type { Refusal } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { type Answer, ask, bearerApi, refusalByStatus } from './vendor-api.ts';
import { settingsOf } from './video-settings.ts';

const MODELS: Record<string, string> = { 'minimax-h3': 'MiniMax-H3', 'minimax-h3-max': 'MiniMax-H3-Max' };

const PICTURES: PictureLimits = {
  types: ['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif'],
  mostBytes: 30 * 1024 * 1024,
  side: { min: 256, max: 5760 },
  ratio: { min: 0.4, max: 2.5 },
  ...TOGETHER,
};

const POLL_MS: Record<string, number> = { 'minimax-h3': 10_000, 'minimax-h3-max': 5000 };
const BUSY_MS = 10_000;

const Created = z.object({ task_id: z.string().min(1) });
const Found = z.object({
  task: z.object({
    status: TaskStatus,
    error: z.object({ code: z.string(), message: z.string() }).nullish(),
    content: z.object({ url: z.url().optional() }).nullish(),
  }),
});

/** MiniMax's own interface makes all but H3 Max at 1080p, which only fal does. */
export function minimax(account: MinimaxAccount, host: Host): Family {
  const own = minimaxItself(account, host);
  const other = account.fal && fal(account.fal, host);
  const routeOf = (task: WorkerTask): Family => {
    if (task.outputModel !== 'minimax-h3-max' || settingsOf(task).resolution !== '1080p') return own;
    if (other !== null) return other;
    throw new StepError(
      'INVALID_INPUT',
      'minimax-h3-max at 1080p is made by fal, where this service has no account: choose 768p, or have FAL_KEY set.',
    );
  };
  return {
    provider: 'live',
    stages: () => ['submit'],
    check: (task) => routeOf(task).check(task),
    submit: (call) => routeOf(call.task).submit(call),
    poll: (call) => routeOf(call.task).poll(call),
    cancel: async (call) => routeOf(call.task).cancel?.(call),
    download: (call) => routeOf(call.task).download(call),
    async probe(signal) {
      const found = await own.probe?.(signal);
      return `${found}; ${(await other?.probe?.(signal)) ?? 'without FAL_KEY, minimax-h3-max has no 1080p'}`;
    },
  };
}

function minimaxItself(account: KeyedAccount, host: Host): Family {
  const api = bearerApi('MiniMax', account, host, refusalIn);
  const wireId = ({ outputModel }: WorkerTask) => host.wireId(outputModel, MODELS[outputModel] ?? outputModel);
  const look = async (call: Call & { job: JobRef }) =>
    (await ask(api, Found, { path: `/v2/query/video_generation/${encodeURIComponent(call.job.id)}` }, call)).task;

  return {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},
    download: downloadFrom(api),

    async submit(call) {
      const { task } = call;
      const { resolution, durationSeconds, aspectRatio } = settingsOf(task);
      const prompt = namedPrompt(task, (position) => `image ${position}`);
      const body = {
        model: wireId(task),
        content: contentOf(prompt, await readPictures(call, api.name, PICTURES)),
        resolution: resolution.toUpperCase(),
        duration: durationSeconds,
        ratio: aspectRatio,
        aigc_watermark: false,
        // The prompt is sent as it was written.
        ...(task.outputModel === 'minimax-h3-max' && { extra: { prompt_expansion_mode: 'disabled' } }),
      };
      const order = { method: 'POST', path: '/v2/video_generation', body, paid: true } as const;
      const { task_id: id } = await ask(api, Created, order, call);
      return { job: { id } };
    },

    async poll(call) {
      const { status, error, content } = await look(call);
      const cadence = { retryAfterMs: POLL_MS[call.task.outputModel] ?? BUSY_MS, meaningOf };
      return polledFrom(api, { status, error, url: content?.url }, cadence, call.task);
    },

    async cancel(call) {
      // A task that runs cannot be stopped, and of one that has ended the record would be deleted.
      if ((await look(call)).status !== 'queued') return;
      await ask(
        api,
        z.unknown(),
        { method: 'DELETE', path: `/v2/video_generation/${encodeURIComponent(call.job.id)}` },
        call,
      );
    },

    async probe(signal) {
      await ask(api, z.object({}), { path: '/v2/query/video_generation?page_num=1&page_size=1' }, { signal });
      return 'MiniMax accepts the key';
    },
  };
}

const MEANINGS = new Map<string, StepErrorType>([
  ['2013', 'INVALID_INPUT'],
  ['1004', 'AUTH'],
  ['2049', 'AUTH'],
  ['1008', 'BALANCE'],
  ['1026', 'CONTENT_POLICY'],
  ['1027', 'CONTENT_POLICY'],
  ['1002', 'RATE_LIMITED'],
  ['1039', 'RATE_LIMITED'],
  ['unprocessable_entity_error', 'CONTENT_POLICY'],
  ['overloaded_error', 'RATE_LIMITED'],
]);

const meaningOf = (code: string): StepErrorType | undefined => MEANINGS.get(code);

const Refused = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

function refusalIn(answer: Answer): Refusal | null {
  const said = Refused.safeParse(answer.body);
  const byStatus = refusalByStatus(answer);
  if (!said.success || byStatus === null) return byStatus;
  const { type: kind, message } = said.data.error;
  const [, code = ''] = /\((\d{4})\)/.exec(message) ?? [];
  // Only the last seven days can be asked for.
  const type = /invalid task_id/i.test(message)
    ? 'RESULT_EXPIRED'
    : (meaningOf(code) ?? meaningOf(kind) ?? byStatus.type);
  const delayMs = type === 'RATE_LIMITED' ? BUSY_MS : undefined;
  return { type, words: message, delayMs };
}
