import { z } from 'zod';
import { type Account, type AccountReader, type KeyedAccount, misconfigured } from '../provider-settings.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import { address, entries, error, id, text, word } from './answer-fields.ts';
import type { Call, Family, FamilyDescription, Polled } from './family.ts';
import { jobState, type StatusWords } from './job-state.ts';
import { type PictureLimits, readPictures, replaceReferences } from './references.ts';
import { asFinalType, type Refusal, toStepError, type Vendor } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { openTencentCloud, type TencentCloudAccount } from './tencent-cloud.ts';
import { type Answer, bearerApi, callApi, refusalByStatus } from './vendor-api.ts';

export interface CloudAccount extends TencentCloudAccount {
  transport: 'tencent-cloud';
  /** Whether requests to the endpoint take a model name. */
  takesModel: boolean;
}

export interface TokenHubAccount extends KeyedAccount {
  transport: 'token-hub';
}

/** The source of a 3D model: a prompt or a picture, never both. `model` is null where the product has only one. */
type Asked = { model: string | null } & ({ prompt: string } | { picture: string });

interface Job {
  status: string | undefined;
  files: { type: string | undefined; url: string | undefined }[];
  code: string | undefined;
  words: string | undefined;
}

/** One of Tencent's two APIs for the same models. */
interface Transport {
  vendor: Vendor & { baseUrl: string };
  /** Null if the product takes no model name. */
  usualModel: string | null;
  words: StatusWords;
  order(asked: Asked, call: Call): Promise<string>;
  look(id: string, call: Pick<Call, 'signal'> & Partial<Pick<Call, 'task'>>): Promise<Job>;
}

const PICTURES: PictureLimits = {
  types: ['image/png', 'image/jpeg', 'image/webp'],
  maxBytes: 6 * 1024 * 1024,
  side: { min: 128, max: 5000 },
};
const DROPPED = 'Hunyuan3D uses either a prompt or a picture; the prompt was ignored, because there was a picture.';
const QUEUED_MS = 20_000;
const RUNNING_MS = 10_000;

const Ref = z.object({ id: z.string() });

export const hunyuan3d: FamilyDescription<CloudAccount | TokenHubAccount> = {
  keySettings: 'TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY, or TOKENHUB_API_KEY',
  readAccount,
  submitSeconds: 60,
  storeSeconds: 600,
  open,
};

function readAccount({ value, setting, keyed, address }: AccountReader): Account<CloudAccount | TokenHubAccount> {
  const [secretId, secretKey] = [value('TENCENTCLOUD_SECRET_ID'), value('TENCENTCLOUD_SECRET_KEY')];
  if (secretId === undefined && secretKey === undefined) {
    const hub = keyed('TOKENHUB_API_KEY', 'TOKENHUB_BASE_URL', 'https://tokenhub.tencentmaas.com');
    return hub.state === 'live' ? { ...hub, transport: 'token-hub' } : hub;
  }
  if (secretId === undefined) return misconfigured('TENCENTCLOUD_SECRET_KEY is set, TENCENTCLOUD_SECRET_ID is not.');
  if (secretKey === undefined) return misconfigured('TENCENTCLOUD_SECRET_ID is set, TENCENTCLOUD_SECRET_KEY is not.');
  const endpoint = address('HUNYUAN_ENDPOINT', 'https://hunyuan.intl.tencentcloudapi.com');
  // Tencent sells the same models as the product ai3d, in China and abroad, and as a part of Hunyuan.
  const [isProduct, isInChina] = [endpoint.includes('//ai3d.'), endpoint.includes('//ai3d.tencentcloudapi.com')];
  return {
    state: 'live',
    transport: 'tencent-cloud',
    secretId,
    secretKey,
    endpoint,
    version: setting('HUNYUAN_VERSION', day, isProduct ? '2025-05-13' : '2023-09-01'),
    region: setting('HUNYUAN_REGION', region, isInChina ? 'ap-guangzhou' : 'ap-singapore'),
    takesModel: !isProduct || isInChina,
  };
}

const day = z.string().regex(/^\d{4}-\d\d-\d\d$/, 'write a version such as 2023-09-01');
const region = z.string().regex(/^[a-z0-9-]{1,40}$/, 'write a region such as ap-singapore');

function open(account: CloudAccount | TokenHubAccount, context: AdapterContext): Family {
  const transport = account.transport === 'token-hub' ? tokenHub(account, context) : tencentCloud(account, context);

  async function askedFor(call: Call): Promise<Asked> {
    const model = context.providerModelId(call.task.outputModel, transport.usualModel ?? '') || null;
    const [picture] = await readPictures(call, transport.vendor.name, PICTURES);
    if (picture === undefined) return { model, prompt: replaceReferences(call.task, () => '') };
    return { model, picture: picture.bytes.toString('base64') };
  }

  return {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},

    async submit(call) {
      const asked = await askedFor(call);
      return { job: { id: await transport.order(asked, call) }, warnings: 'picture' in asked ? [DROPPED] : [] };
    },

    async poll({ job, ...call }) {
      const found = await transport.look(Ref.parse(job).id, call);
      return polled(transport, found, (refusal) => toStepError(transport.vendor, refusal, call.task));
    },

    async probe(signal) {
      // Looks up a job that cannot exist: the answer shows whether the key is accepted, and costs nothing.
      await transport.look('0', { signal }).catch((error: unknown) => {
        if (!(error instanceof StepError) || !SAYS_NO_SUCH_JOB.has(error.type)) throw error;
      });
      return `${new URL(transport.vendor.baseUrl).host} accepts the key`;
    },

    download: downloadFrom(transport.vendor),
  };
}

const SAYS_NO_SUCH_JOB = new Set<StepErrorType>(['RESULT_EXPIRED', 'INVALID_INPUT']);

function polled(
  { vendor, words: statusWords }: Transport,
  { status, files, code, words }: Job,
  refuse: (refusal: Refusal) => StepError,
): Polled {
  const glb = files.find((file) => file.url !== undefined && typeOf(file) === 'GLB');
  const hasResult = glb !== undefined;
  const state = jobState(vendor, statusWords, { status, hasResult, hasError: words !== undefined });
  if (state === 'running') {
    // Tencent does not report progress.
    const isQueued = status === statusWords.running[0];
    return { state, progress: isQueued ? 0 : 0.4, retryAfterMs: isQueued ? QUEUED_MS : RUNNING_MS };
  }
  if (state === 'failed') throw refuse({ type: asFinalType(meaningOf(code ?? '')), words: words ?? code });
  if (glb?.url !== undefined) return { state, output: { url: glb.url } };
  const others = files.flatMap((file) => typeOf(file) ?? []);
  const made = others.length === 0 ? 'it made no file.' : `it made no GLB, only ${others.join(', ')}.`;
  throw refuse({ type: 'PROVIDER_FAILED', words: `${made} Only GLB can be stored.` });
}

/** Returns the type that the provider names, or the extension of the URL. */
function typeOf({ type, url }: Job['files'][number]): string | undefined {
  const ending = /\.(\w+)$/.exec(URL.parse(url ?? '')?.pathname ?? '')?.[1];
  return (type ?? ending)?.toUpperCase();
}

const Submitted = z.object({ JobId: id });
const Queried = z.object({
  Status: word,
  ErrorCode: text,
  ErrorMessage: text,
  ResultFile3Ds: entries({ Type: word, Url: address }),
});

function tencentCloud(account: CloudAccount, { log }: AdapterContext): Transport {
  const { secretId, secretKey, endpoint } = account;
  const vendor = { name: 'Hunyuan3D', secrets: [secretId, secretKey], log, baseUrl: endpoint };
  const cloud = openTencentCloud(account, vendor, refusalOf);
  return {
    vendor,
    usualModel: account.takesModel ? '3.1' : null,
    words: { running: ['WAIT', 'RUN'], succeeded: ['DONE'], failed: ['FAIL'] },
    async order({ model, ...asked }, call) {
      const source = 'prompt' in asked ? { Prompt: asked.prompt } : { ImageBase64: asked.picture };
      // No face count: setting one costs more.
      const body = { ...(model !== null && { Model: model }), ...source, EnablePBR: true, GenerateType: 'Normal' };
      return (await cloud.act(Submitted, { name: 'SubmitHunyuanTo3DProJob', body, paid: true }, call)).JobId;
    },
    async look(id, call) {
      const found = await cloud.act(Queried, { name: 'QueryHunyuanTo3DProJob', body: { JobId: id } }, call);
      const files = found.ResultFile3Ds.map(({ Type, Url }) => ({ type: Type, url: Url }));
      return { status: found.Status, files, code: found.ErrorCode, words: found.ErrorMessage };
    },
  };
}

const Taken = z.object({ id });
const Looked = z.object({ status: word, data: entries({ type: word, url: address }), error });
const HUB_MODEL = 'hy-3d-3.1';

function tokenHub(account: TokenHubAccount, context: AdapterContext): Transport {
  const vendor = bearerApi('Hunyuan3D', account, context, refusalInHub);
  return {
    vendor,
    usualModel: HUB_MODEL,
    words: { running: ['queued', 'in_progress'], succeeded: ['completed'], failed: ['failed'] },
    async order({ model, ...asked }, call) {
      const source = 'prompt' in asked ? { prompt: asked.prompt } : { image_base64: asked.picture };
      const body = { model, ...source, enable_pbr: true, generate_type: 'Normal' };
      return (await callApi(vendor, Taken, { method: 'POST', path: '/v1/api/3d/submit', body, paid: true }, call)).id;
    },
    async look(id, call) {
      const body = { model: context.providerModelId('hunyuan3d-3.1', HUB_MODEL), id };
      const found = await callApi(vendor, Looked, { method: 'POST', path: '/v1/api/3d/query', body }, call);
      const files = found.data.map(({ type, url }) => ({ type, url }));
      return { status: found.status, files, code: found.error?.code, words: found.error?.message };
    },
  };
}

const Complaint = z.object({ status: z.undefined().optional(), error: z.object({ code: text, message: text }) });

function refusalInHub({ status, body }: Answer): Refusal | null {
  const byStatus = refusalByStatus({ status });
  const complaint = Complaint.safeParse(body);
  if (!complaint.success) return byStatus;
  const { code = '', message = '' } = complaint.data.error;
  const refusal = refusalOf(code, message);
  if (meaningOf(code) !== undefined || byStatus === null) return refusal;
  return { ...byStatus, type: status === 404 ? 'RESULT_EXPIRED' : byStatus.type, words: refusal.words };
}

const CODES: [pattern: RegExp, type: StepErrorType][] = [
  [/Illegal|Moderation|Sensitive|GenerateImageFailed/i, 'CONTENT_POLICY'],
  [/^ResourceInsufficient|PackExhausted$|ServiceStopArrears$|InArrears|LowBalance|ChargeStatusException/, 'BALANCE'],
  [/ServiceNotActivated$|ServiceStop$|PartnerAccountUnSupport$|SetPayModeExceed$/, 'AUTH'],
  [
    /^(AuthFailure|UnauthorizedOperation|Unsupported(Region|Operation|Protocol)|Ip(InBlacklist|NotInWhitelist))/,
    'AUTH',
  ],
  // The endpoint or its version does not belong to the product.
  [/^(ActionOffline|InvalidAction|NoSuch(Product|Version))/, 'AUTH'],
  [/^(RequestLimitExceeded|LimitExceeded|ResourceInUse)|EngineServerLimitExceeded$/, 'RATE_LIMITED'],
  [/JobNot(Exist|Found)|^ResourceNotFound/, 'RESULT_EXPIRED'],
  [/^(InternalError|RequestTimeout|ServiceUnavailable|ResourceUnavailable|ResponseSizeLimitExceeded)/, 'TRANSIENT'],
  [/^FailedOperation$|^FailedOperation\.(\w*ServerError|InnerError|EngineRequestTimeout)$/, 'TRANSIENT'],
  [/^(Invalid(Parameter|Request)|MissingParameter|UnknownParameter|RequestSizeLimitExceeded|DryRun)/, 'INVALID_INPUT'],
  [/^FailedOperation\.(Image|DownloadError)|DecodeFailed$/, 'INVALID_INPUT'],
];

export const meaningOf = (code: string): StepErrorType | undefined =>
  CODES.find(([pattern]) => pattern.test(code))?.[1];

/** Maps Tencent's error codes, which often come with status 200. Unknown codes are retried. */
function refusalOf(code: string, words: string): Refusal {
  // Tencent counts an ended job against the limit for a while.
  const delayMs = code === 'RequestLimitExceeded.JobNumExceed' ? RUNNING_MS : undefined;
  return { type: meaningOf(code) ?? 'TRANSIENT', words: words || code, delayMs };
}
