import type { WorkerTask } from '@review/contract';
import { z } from 'zod';
import { type Account, type AccountReader, type KeyedAccount, misconfigured } from '../provider-settings.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import { address, error, fields, id, text, word } from './answer-fields.ts';
import { contentOf, TOGETHER, toPolled } from './content-task.ts';
import { type FalAccount, fal } from './fal.ts';
import type { Call, Family, FamilyDescription, JobRef } from './family.ts';
import { type PictureLimits, readPictures, replaceReferences } from './references.ts';
import type { Refusal } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { type Answer, bearerApi, callApi, refusalByStatus } from './vendor-api.ts';
import { settingsOf } from './video-settings.ts';

interface MinimaxAccount extends KeyedAccount {
  /** Used for the settings that MiniMax's own API does not offer. */
  fal: FalAccount | null;
}

const MODELS: Record<string, string> = { 'minimax-h3': 'MiniMax-H3', 'minimax-h3-max': 'MiniMax-H3-Max' };

const PICTURES: PictureLimits = {
  types: ['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif'],
  maxBytes: 30 * 1024 * 1024,
  side: { min: 256, max: 5760 },
  ratio: { min: 0.4, max: 2.5 },
  ...TOGETHER,
};

const POLL_MS: Record<string, number> = { 'minimax-h3': 10_000, 'minimax-h3-max': 5000 };
const BUSY_MS = 10_000;

const Created = z.object({ task_id: id });
const Found = z.object({ task: fields({ status: word, error, content: fields({ url: address }) }) });

/** Routes H3 Max at 1080p to fal, and everything else to MiniMax's own API, which lacks that combination. */
export const minimax: FamilyDescription<MinimaxAccount> = {
  keySettings: 'MINIMAX_API_KEY',
  readAccount,
  submitSeconds: 60,
  storeSeconds: 900,
  open,
};

function readAccount({ value, keyed, address }: AccountReader): Account<MinimaxAccount> {
  const account = keyed('MINIMAX_API_KEY', 'MINIMAX_BASE_URL', 'https://api.minimax.io');
  const apiKey = value('FAL_KEY');
  if (apiKey === undefined) return account.state === 'live' ? { ...account, fal: null } : account;
  if (account.state !== 'live') return misconfigured('FAL_KEY only adds to MINIMAX_API_KEY, which is not set.');
  return { ...account, fal: { apiKey, queueUrl: address('FAL_QUEUE_URL', 'https://queue.fal.run') } };
}

function open(account: MinimaxAccount, context: AdapterContext): Family {
  const own = minimaxItself(account, context);
  const other = account.fal && fal(account.fal, context);
  const routeOf = (task: WorkerTask): Family => {
    if (task.outputModel !== 'minimax-h3-max' || settingsOf(task).resolution !== '1080p') return own;
    if (other !== null) return other;
    throw new StepError(
      'INVALID_INPUT',
      'minimax-h3-max at 1080p needs an account at fal, which this service does not have. Choose 768p, or ask the operator to set FAL_KEY.',
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

function minimaxItself(account: KeyedAccount, context: AdapterContext): Family {
  const api = bearerApi('MiniMax', account, context, refusalIn);
  const providerModelId = ({ outputModel }: WorkerTask) =>
    context.providerModelId(outputModel, MODELS[outputModel] ?? outputModel);
  const look = async (call: Call & { job: JobRef }) =>
    (await callApi(api, Found, { path: `/v2/query/video_generation/${encodeURIComponent(call.job.id)}` }, call)).task ??
    {};

  return {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},
    download: downloadFrom(api),

    async submit(call) {
      const { task } = call;
      const { resolution, durationSeconds, aspectRatio } = settingsOf(task);
      const prompt = replaceReferences(task, (position) => `image ${position}`);
      const body = {
        model: providerModelId(task),
        content: contentOf(prompt, await readPictures(call, api.name, PICTURES)),
        resolution: resolution.toUpperCase(),
        duration: durationSeconds,
        ratio: aspectRatio,
        // Keeps MiniMax from rewriting the prompt.
        ...(task.outputModel === 'minimax-h3-max' && { extra: { prompt_expansion_mode: 'disabled' } }),
      };
      const order = { method: 'POST', path: '/v2/video_generation', body, paid: true } as const;
      const created = await callApi(api, Created, order, call);
      return { job: { id: created.task_id } };
    },

    async poll(call) {
      const { status, error, content } = await look(call);
      const cadence = { retryAfterMs: POLL_MS[call.task.outputModel] ?? BUSY_MS, meaningOf };
      return toPolled(api, { status, error, url: content?.url }, cadence, call.task);
    },

    async cancel(call) {
      // DELETE cannot stop a running task, and would delete the record of an ended one.
      if ((await look(call)).status !== 'queued') return;
      await callApi(
        api,
        z.unknown(),
        { method: 'DELETE', path: `/v2/video_generation/${encodeURIComponent(call.job.id)}` },
        call,
      ).catch((failure: unknown) => {
        // The task has started since the poll.
        if (!(failure instanceof StepError && failure.type === 'INVALID_INPUT')) throw failure;
      });
    },

    async probe(signal) {
      await callApi(api, z.object({}), { path: '/v2/query/video_generation?page_num=1&page_size=1' }, { signal });
      return 'MiniMax accepts the key';
    },
  };
}

/** By the code in the message, or by the error type. */
const MEANINGS = new Map<string, StepErrorType>([
  ['1042', 'INVALID_INPUT'],
  ['2013', 'INVALID_INPUT'],
  ['bad_request_error', 'INVALID_INPUT'],
  ['1004', 'AUTH'],
  ['2049', 'AUTH'],
  ['authorized_error', 'AUTH'],
  ['1008', 'BALANCE'],
  ['2056', 'BALANCE'],
  ['insufficient_balance_error', 'BALANCE'],
  ['1026', 'CONTENT_POLICY'],
  ['1027', 'CONTENT_POLICY'],
  ['unprocessable_entity_error', 'CONTENT_POLICY'],
  ['1002', 'RATE_LIMITED'],
  ['1039', 'RATE_LIMITED'],
  ['1041', 'RATE_LIMITED'],
  ['2045', 'RATE_LIMITED'],
  ['rate_limit_error', 'RATE_LIMITED'],
  ['overloaded_error', 'RATE_LIMITED'],
  ['1000', 'TRANSIENT'],
  ['1001', 'TRANSIENT'],
  ['1013', 'TRANSIENT'],
  ['1024', 'TRANSIENT'],
  ['1033', 'TRANSIENT'],
  ['server_error', 'TRANSIENT'],
]);

export const meaningOf = (code: string): StepErrorType | undefined => MEANINGS.get(code);

const Refused = z.object({ error: fields({ type: text, message: text }) }).catch({});

function refusalIn(answer: Answer): Refusal | null {
  const byStatus = refusalByStatus(answer);
  if (byStatus === null) return null;
  const { type: kind = '', message } = Refused.parse(answer.body).error ?? {};
  const [, code = ''] = /\((\d{4,5})\)/.exec(message ?? '') ?? [];
  // MiniMax keeps tasks for seven days.
  const type = /invalid task_id/i.test(message ?? '')
    ? 'RESULT_EXPIRED'
    : (meaningOf(code) ?? meaningOf(kind) ?? byStatus.type);
  return { type, words: message ?? byStatus.words, delayMs: type === 'RATE_LIMITED' ? BUSY_MS : undefined };
}
