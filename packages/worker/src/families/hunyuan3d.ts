import { z } from 'zod';
import type { TencentCloudAccount, TokenHubAccount } from '../provider-settings.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import type { AdapterContext } from './adapter-context.ts';
import { address, entries, error, id, text, word } from './answer-fields.ts';
import type { Call, Family, Polled } from './family.ts';
import { jobState, type StatusWords } from './job-state.ts';
import { namedPrompt, type PictureLimits, readPictures } from './references.ts';
import { ofEnded, type Refusal, refused, type Vendor } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { openTencentCloud } from './tencent-cloud.ts';
import { type Answer, ask, bearerApi, refusalByStatus } from './vendor-api.ts';

/** What a model is made of: words or a picture, never both. Not every product lets the model be chosen. */
type Asked = { model: string | null } & ({ prompt: string } | { picture: string });

interface Job {
  status: string | undefined;
  files: { type: string | undefined; url: string | undefined }[];
  code: string | undefined;
  words: string | undefined;
}

/** The two doors of Tencent behind which the same models are. */
interface Door {
  vendor: Vendor & { baseUrl: string };
  /** Null where the product has one model, which has no name there. */
  usualModel: string | null;
  words: StatusWords;
  order(asked: Asked, call: Call): Promise<string>;
  look(id: string, call: Pick<Call, 'signal'> & Partial<Pick<Call, 'task'>>): Promise<Job>;
}

const PICTURES: PictureLimits = {
  types: ['image/png', 'image/jpeg', 'image/webp'],
  mostBytes: 6 * 1024 * 1024,
  side: { min: 128, max: 5000 },
};
const DROPPED = 'Hunyuan3D makes a model of words or of a picture; there was a picture, so the prompt was not used.';
const QUEUED_MS = 20_000;
const RUNNING_MS = 10_000;

const Ref = z.object({ id: z.string() });

export function hunyuan3d(account: TencentCloudAccount | TokenHubAccount, context: AdapterContext): Family {
  const door = account.transport === 'token-hub' ? tokenHub(account, context) : tencentCloud(account, context);

  async function askedFor(call: Call): Promise<Asked> {
    const model = context.providerModelId(call.task.outputModel, door.usualModel ?? '') || null;
    const [picture] = await readPictures(call, door.vendor.name, PICTURES);
    if (picture === undefined) return { model, prompt: namedPrompt(call.task, () => '') };
    return { model, picture: picture.bytes.toString('base64') };
  }

  return {
    provider: 'live',
    stages: () => ['submit'],
    check: () => {},

    async submit(call) {
      const asked = await askedFor(call);
      return { job: { id: await door.order(asked, call) }, warnings: 'picture' in asked ? [DROPPED] : [] };
    },

    async poll({ job, ...call }) {
      const found = await door.look(Ref.parse(job).id, call);
      return polled(door, found, (refusal) => refused(door.vendor, refusal, call.task));
    },

    async probe(signal) {
      // Nobody has such a job: the answer tells whether the access is good, and costs nothing.
      await door.look('0', { signal }).catch((error: unknown) => {
        if (!(error instanceof StepError) || !SAYS_NO_SUCH_JOB.has(error.type)) throw error;
      });
      return `${new URL(door.vendor.baseUrl).host} accepts the access`;
    },

    download: downloadFrom(door.vendor),
  };
}

const SAYS_NO_SUCH_JOB = new Set<StepErrorType>(['RESULT_EXPIRED', 'INVALID_INPUT']);

function polled(
  { vendor, words: statusWords }: Door,
  { status, files, code, words }: Job,
  refuse: (refusal: Refusal) => StepError,
): Polled {
  const glb = files.find((file) => file.url !== undefined && typeOf(file) === 'GLB');
  const hasResult = glb !== undefined;
  const state = jobState(vendor, statusWords, { status, hasResult, hasError: words !== undefined });
  if (state === 'running') {
    // How far it has come is not told.
    const isQueued = status === statusWords.running[0];
    return { state, progress: isQueued ? 0 : 0.4, retryAfterMs: isQueued ? QUEUED_MS : RUNNING_MS };
  }
  if (state === 'failed') throw refuse({ type: ofEnded(meaningOf(code ?? '')), words: words ?? code });
  if (glb?.url !== undefined) return { state, output: { url: glb.url } };
  const others = files.flatMap((file) => typeOf(file) ?? []);
  const made = others.length === 0 ? 'it made no file.' : `it made no GLB, only ${others.join(', ')}.`;
  throw refuse({ type: 'PROVIDER_FAILED', words: `${made} Only GLB can be stored.` });
}

/** As the provider says, or as the address ends. */
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

function tencentCloud(account: TencentCloudAccount, { log }: AdapterContext): Door {
  const { secretId, secretKey, endpoint } = account;
  const vendor = { name: 'Hunyuan3D', secrets: [secretId, secretKey], log, baseUrl: endpoint };
  const cloud = openTencentCloud(account, vendor, refusalOf);
  return {
    vendor,
    usualModel: account.takesModel ? '3.1' : null,
    words: { running: ['WAIT', 'RUN'], succeeded: ['DONE'], failed: ['FAIL'] },
    async order({ model, ...asked }, call) {
      const source = 'prompt' in asked ? { Prompt: asked.prompt } : { ImageBase64: asked.picture };
      // No face count: a model with a chosen one costs more.
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

function tokenHub(account: TokenHubAccount, context: AdapterContext): Door {
  const vendor = bearerApi('Hunyuan3D', account, context, refusalInHub);
  return {
    vendor,
    usualModel: HUB_MODEL,
    words: { running: ['queued', 'in_progress'], succeeded: ['completed'], failed: ['failed'] },
    async order({ model, ...asked }, call) {
      const source = 'prompt' in asked ? { prompt: asked.prompt } : { image_base64: asked.picture };
      const body = { model, ...source, enable_pbr: true, generate_type: 'Normal' };
      return (await ask(vendor, Taken, { method: 'POST', path: '/v1/api/3d/submit', body, paid: true }, call)).id;
    },
    async look(id, call) {
      const body = { model: context.providerModelId('hunyuan3d-3.1', HUB_MODEL), id };
      const found = await ask(vendor, Looked, { method: 'POST', path: '/v1/api/3d/query', body }, call);
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
  // The endpoint or its version is not the product's.
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

/** Tencent says what went wrong by a code, often with a status that says all is well. One that is unknown may pass. */
function refusalOf(code: string, words: string): Refusal {
  // A job that has ended is still counted for a while.
  const delayMs = code === 'RequestLimitExceeded.JobNumExceed' ? RUNNING_MS : undefined;
  return { type: meaningOf(code) ?? 'TRANSIENT', words: words || code, delayMs };
}
