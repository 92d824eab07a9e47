import { z } from 'zod';
import type { TencentCloudAccount, TokenHubAccount } from '../provider-settings.ts';
import { StepError } from '../step-error.ts';
import type { Call, Family, Polled } from './family.ts';
import type { Host } from './open.ts';
import { namedPrompt, type PictureLimits, readPictures } from './references.ts';
import { ofEnded, type Refusal, refused, type Vendor } from './refusal.ts';
import { downloadFrom } from './result.ts';
import { openTencentCloud } from './tencent-cloud.ts';
import { type Answer, ask, bearerApi, refusalByStatus } from './vendor-api.ts';

/** What a model is made of: words or a picture, never both. */
type Asked = { model: string } & ({ prompt: string } | { picture: string });

interface Job {
  state: 'queued' | 'running' | 'done' | 'failed';
  files: { type: string; url: string }[];
  code: string;
  words: string;
}

/** The two doors of Tencent behind which the same models are. */
interface Door {
  vendor: Vendor & { baseUrl: string };
  usualModel: string;
  order(asked: Asked, call: Call): Promise<string>;
  look(id: string, call: Pick<Call, 'signal'> & Partial<Pick<Call, 'task'>>): Promise<Job>;
}

const PICTURES: PictureLimits = {
  types: ['image/png', 'image/jpeg', 'image/webp'],
  mostBytes: 6 * 1024 * 1024,
  side: { min: 128, max: 5000 },
};
const FACES = 500_000;
const DROPPED = 'Hunyuan3D makes a model of words or of a picture; there was a picture, so the prompt was not used.';
const QUEUED_MS = 20_000;
const RUNNING_MS = 10_000;

const Ref = z.object({ id: z.string() });

export function hunyuan3d(account: TencentCloudAccount | TokenHubAccount, host: Host): Family {
  const door = account.transport === 'token-hub' ? tokenHub(account, host) : tencentCloud(account, host);

  async function askedFor(call: Call): Promise<Asked> {
    const model = host.wireId(call.task.outputModel, door.usualModel);
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
      return polled(found, (refusal) => refused(door.vendor, refusal, call.task));
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

const SAYS_NO_SUCH_JOB = new Set(['RESULT_EXPIRED', 'INVALID_INPUT', 'PROVIDER_FAILED']);

function polled({ state, files, code, words }: Job, refuse: (refusal: Refusal) => StepError): Polled {
  if (state === 'queued') return { state: 'running', progress: 0, retryAfterMs: QUEUED_MS };
  // How far it has come is not told.
  if (state === 'running') return { state: 'running', progress: 0.4, retryAfterMs: RUNNING_MS };
  if (state === 'failed') {
    const refusal = refusalOf(code, words);
    throw refuse({ type: ofEnded(refusal.type), words: refusal.words });
  }
  const glb = files.find(({ type }) => type.toUpperCase() === 'GLB');
  if (glb === undefined) throw refuse({ type: 'PROVIDER_FAILED', words: 'it made no GLB.' });
  return { state: 'succeeded', output: { url: glb.url } };
}

const Submitted = z.object({ JobId: z.string().min(1) });
const Queried = z.object({
  Status: z.enum(['WAIT', 'RUN', 'FAIL', 'DONE']),
  ErrorCode: z.string().nullish(),
  ErrorMessage: z.string().nullish(),
  ResultFile3Ds: z.array(z.object({ Type: z.string(), Url: z.string() })).nullish(),
});
const STATES = { WAIT: 'queued', RUN: 'running', FAIL: 'failed', DONE: 'done' } as const;

function tencentCloud(account: TencentCloudAccount, { log }: Host): Door {
  const { secretId, secretKey, endpoint } = account;
  const vendor = { name: 'Hunyuan3D', secrets: [secretId, secretKey], log, baseUrl: endpoint };
  const cloud = openTencentCloud(account, vendor, refusalOf);
  return {
    vendor,
    usualModel: '3.1',
    async order({ model, ...asked }, call) {
      const source = 'prompt' in asked ? { Prompt: asked.prompt } : { ImageBase64: asked.picture };
      const body = { Model: model, ...source, EnablePBR: true, FaceCount: FACES, GenerateType: 'Normal' };
      return (await cloud.act(Submitted, { name: 'SubmitHunyuanTo3DProJob', body, paid: true }, call)).JobId;
    },
    async look(id, call) {
      const found = await cloud.act(Queried, { name: 'QueryHunyuanTo3DProJob', body: { JobId: id } }, call);
      return {
        state: STATES[found.Status],
        files: (found.ResultFile3Ds ?? []).map(({ Type, Url }) => ({ type: Type, url: Url })),
        code: found.ErrorCode ?? '',
        words: found.ErrorMessage ?? '',
      };
    },
  };
}

const Taken = z.object({ id: z.string().min(1) });
const Looked = z.object({
  status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
  data: z.array(z.object({ type: z.string(), url: z.string() })).nullish(),
  error: z.object({ code: z.string().nullish(), message: z.string().nullish() }).nullish(),
});
const HUB_STATES = { queued: 'queued', in_progress: 'running', completed: 'done', failed: 'failed' } as const;
const HUB_MODEL = 'hy-3d-3.1';

function tokenHub(account: TokenHubAccount, host: Host): Door {
  const vendor = bearerApi('Hunyuan3D', account, host, refusalInHub);
  return {
    vendor,
    usualModel: HUB_MODEL,
    async order({ model, ...asked }, call) {
      const source = 'prompt' in asked ? { prompt: asked.prompt } : { image_base64: asked.picture };
      const body = { model, ...source, enable_pbr: true, face_count: FACES, generate_type: 'Normal' };
      return (await ask(vendor, Taken, { method: 'POST', path: '/v1/api/3d/submit', body, paid: true }, call)).id;
    },
    async look(id, call) {
      const body = { model: host.wireId('hunyuan3d-3.1', HUB_MODEL), id };
      const found = await ask(vendor, Looked, { method: 'POST', path: '/v1/api/3d/query', body }, call);
      const { code, message } = found.error ?? {};
      return { state: HUB_STATES[found.status], files: found.data ?? [], code: code ?? '', words: message ?? '' };
    },
  };
}

const Complaint = z.object({
  status: z.undefined().optional(),
  error: z.object({ code: z.coerce.string().nullish(), message: z.string().nullish() }),
});

function refusalInHub({ status, body }: Answer): Refusal | null {
  const complaint = Complaint.safeParse(body);
  if (!complaint.success) return null;
  const { code, message } = complaint.data.error;
  const byCode = refusalOf(code ?? '', message ?? '');
  if (byCode.type !== 'PROVIDER_FAILED') return byCode;
  if (status === 404) return { ...byCode, type: 'RESULT_EXPIRED' };
  return { ...byCode, ...refusalByStatus({ status }), words: byCode.words };
}

const CODES: [pattern: RegExp, type: Refusal['type']][] = [
  [/Illegal|Moderation|Sensitive/i, 'CONTENT_POLICY'],
  [/^(AuthFailure|UnauthorizedOperation|UnsupportedRegion)/, 'AUTH'],
  [/^ResourceInsufficient|InArrears|LowBalance|ChargeStatusException/, 'BALANCE'],
  [/^(RequestLimitExceeded|LimitExceeded)/, 'RATE_LIMITED'],
  [/JobNot(Exist|Found)/, 'RESULT_EXPIRED'],
  [/^(InternalError|RequestTimeout|FailedOperation\.(InnerError|ServerError))/, 'TRANSIENT'],
  [/^(InvalidParameter|MissingParameter|FailedOperation\.Image)|DecodeFailed$/, 'INVALID_INPUT'],
];

/** Tencent says what went wrong by a code, often with a status that says all is well. */
function refusalOf(code: string, words: string): Refusal {
  const type = CODES.find(([pattern]) => pattern.test(code))?.[1] ?? 'PROVIDER_FAILED';
  // A job that has ended is still counted for a while.
  const delayMs = code === 'RequestLimitExceeded.JobNumExceed' ? RUNNING_MS : undefined;
  return { type, words: words || code, delayMs };
}
