import type { WorkerTask } from '@review/contract';
import { z } from 'zod';
import type { KeyedAccount } from '../provider-settings.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import { address, error, fields, id, word } from './answer-fields.ts';
import { contentOf, TOGETHER, toPolled } from './content-task.ts';
import type { Call, Family, FamilyDescription, JobRef } from './family.ts';
import { type PictureLimits, readPictures, replaceReferences } from './references.ts';
import type { Refusal } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { type Answer, bearerApi, callApi, refusalByStatus } from './vendor-api.ts';
import { settingsOf } from './video-settings.ts';

/** The dated model names, without the prefix of the platform. */
const MODELS: Record<string, string> = {
  'seedance-2.5': 'seedance-2-5-260628',
  'seedance-2.0': 'seedance-2-0-260128',
  'seedance-2.0-fast': 'seedance-2-0-fast-260128',
  'seedance-2.0-mini': 'seedance-2-0-mini-260615',
};

const PICTURES: PictureLimits = {
  types: ['image/jpeg', 'image/png', 'image/webp', 'image/tiff', 'image/gif'],
  maxBytes: 30 * 1024 * 1024,
  side: { min: 300, max: 6000 },
  ratio: { min: 0.4, max: 2.5 },
  ...TOGETHER,
};

const POLL_MS = 15_000;
const LONG_VIDEO = { seconds: 15, pollMs: 30_000 };
const BUSY_MS = 10_000;
/** Ark's default of two days exceeds every deadline. */
const EXPIRES_AFTER_SECONDS = 7200;

const Created = z.object({ id });
const Task = z.object({ status: word, error, content: fields({ video_url: address }) });
const Listed = z.object({ items: z.array(z.unknown()).nullish() });

const TASKS = '/contents/generations/tasks';

/** Seedance at Ark: by BytePlus internationally, by Volcengine in China. */
export const seedance: FamilyDescription<KeyedAccount> = {
  keySettings: 'ARK_API_KEY',
  readAccount: ({ keyed }) => keyed('ARK_API_KEY', 'ARK_BASE_URL', 'https://ark.ap-southeast.bytepluses.com/api/v3'),
  submitSeconds: 60,
  storeSeconds: 900,
  open,
};

function open(account: KeyedAccount, context: AdapterContext): Family {
  const api = bearerApi('Seedance', account, context, refusalIn);
  const prefix = new URL(account.baseUrl).hostname.endsWith('volces.com') ? 'doubao' : 'dreamina';
  const providerModelId = ({ outputModel }: WorkerTask) =>
    context.providerModelId(outputModel, `${prefix}-${MODELS[outputModel] ?? outputModel}`);
  const pathOf = ({ id }: JobRef) => `${TASKS}/${encodeURIComponent(id)}`;
  const look = (call: Call & { job: JobRef }) => callApi(api, Task, { path: pathOf(call.job) }, call);

  return {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},
    download: downloadFrom(api),

    async submit(call) {
      const { task } = call;
      const { resolution, durationSeconds, aspectRatio, generateAudio } = settingsOf(task);
      const body = {
        model: providerModelId(task),
        content: contentOf(replaceReferences(task, nameOf(task)), await readPictures(call, api.name, PICTURES)),
        resolution,
        ratio: aspectRatio,
        duration: durationSeconds,
        generate_audio: generateAudio,
        watermark: false,
        execution_expires_after: EXPIRES_AFTER_SECONDS,
      };
      const created = await callApi(api, Created, { method: 'POST', path: TASKS, body, paid: true }, call);
      return { job: { id: created.id } };
    },

    async poll(call) {
      const { status, error, content } = await look(call);
      const isLong = settingsOf(call.task).durationSeconds > LONG_VIDEO.seconds;
      const cadence = { retryAfterMs: isLong ? LONG_VIDEO.pollMs : POLL_MS, meaningOf };
      return toPolled(api, { status, error, url: content?.video_url }, cadence, call.task);
    },

    async cancel(call) {
      // DELETE cannot stop a running task, and would delete the record of an ended one.
      if ((await look(call)).status !== 'queued') return;
      await callApi(api, z.unknown(), { method: 'DELETE', path: pathOf(call.job) }, call).catch((failure: unknown) => {
        // The task has started since the poll.
        if (!(failure instanceof StepError && failure.type === 'INVALID_INPUT')) throw failure;
      });
    },

    async probe(signal) {
      await callApi(api, Listed, { path: `${TASKS}?page_num=1&page_size=1` }, { signal });
      return 'Ark accepts the key';
    },
  };
}

const nameOf = ({ outputModel }: WorkerTask) =>
  outputModel === 'seedance-2.5'
    ? (position: number) => `@Image${position}`
    : (position: number) => `[Image ${position}]`;

const MEANINGS: [RegExp, StepErrorType][] = [
  [/SensitiveContent|RiskDetection/, 'CONTENT_POLICY'],
  [/^(MissingParameter|InvalidParameter|InvalidImageURL|InvalidArgumentError)\b/, 'INVALID_INPUT'],
  [/^(InvalidAction|OperationDenied\.(InvalidState|UnsupportedPhase)$)/, 'INVALID_INPUT'],
  [/^(InvalidEndpoint\.ClosedEndpoint|ContentSecurityDetectionError)$/, 'TRANSIENT'],
  [/^(AccountOverdueError|QuotaExceeded|SetLimitExceeded)/, 'BALANCE'],
  [/^OperationDenied\.(ServiceOverdue|FileQuotaExceeded)$/, 'BALANCE'],
  [/^(AuthenticationError|AccessDenied|OperationDenied|InvalidAccountStatus|InvalidSubscription)/, 'AUTH'],
  [/^(ModelNotOpen|InvalidEndpointOrModel|UnsupportedModel)/, 'AUTH'],
  [
    /RateLimitExceeded|^(ServerOverloaded|ModelLoadingError|InflightBatchsizeExceeded|RequestBurstTooFast)/,
    'RATE_LIMITED',
  ],
  [/^NotFound\b/, 'RESULT_EXPIRED'],
  [/^InternalServiceError/, 'TRANSIENT'],
];

export const meaningOf = (code: string): StepErrorType | undefined => MEANINGS.find(([codes]) => codes.test(code))?.[1];

const Refused = z.object({ error }).catch({});

function refusalIn(answer: Answer): Refusal | null {
  const byStatus = refusalByStatus(answer);
  if (byStatus === null) return null;
  const { code, message } = Refused.parse(answer.body).error ?? {};
  const type = meaningOf(code ?? '') ?? byStatus.type;
  const words = [message, code && `(${code})`].filter(Boolean).join(' ');
  return { type, words: words || byStatus.words, delayMs: type === 'RATE_LIMITED' ? BUSY_MS : undefined };
}
