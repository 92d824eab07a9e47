import { z } from 'zod';
import type { ErrorClasses } from '../../test/error-codes.ts';
import { type Double, Refused, type Reply, startDouble, type VendorRequest } from './double.ts';
import { mediaOf } from './media.ts';
import { boolean, integer, list, object, required, type Schema, string, words } from './published-schemas.ts';
import { RESULT_URL, type Settings, VendorDouble } from './vendor-double.ts';

const SIGNED =
  /^TC3-HMAC-SHA256 Credential=(\w+)\/\d{4}-\d\d-\d\d\/[\w-]+\/tc3_request, SignedHeaders=content-type;host, Signature=[0-9a-f]{64}$/;
const SECRET_ID = 'AKIDdouble';
const LIFE_MS = 24 * 3_600_000;
const MAX_PICTURE_BYTES = 6 * 1024 * 1024;

/** The state of a job, as the test sets it; done by default. */
export interface HunyuanState {
  status: 'WAIT' | 'RUN' | 'FAIL' | 'DONE';
  code?: string;
  message?: string;
  files?: { Type: string; Url: string }[];
}

export interface HunyuanDouble extends Double {
  secretId: string;
  key: string;
  stateOf: (id: string) => HunyuanState;
  /** Whether the product takes a model name. */
  takesModel: boolean;
}

/** Tencent's codes: of all its products, and of this one. They come with the status 200. */
export const ERROR_CODES: string[] = [
  ...['ActionOffline', 'AuthFailure.InvalidAuthorization', 'AuthFailure.InvalidSecretId', 'AuthFailure.MFAFailure'],
  ...['AuthFailure.SecretIdNotFound', 'AuthFailure.SignatureExpire', 'AuthFailure.SignatureFailure'],
  ...['AuthFailure.TokenFailure', 'AuthFailure.UnauthorizedOperation', 'DryRunOperation', 'FailedOperation'],
  ...['InternalError', 'InvalidAction', 'InvalidParameter', 'InvalidParameterValue', 'InvalidRequest', 'IpInBlacklist'],
  ...['IpNotInWhitelist', 'LimitExceeded', 'MissingParameter', 'NoSuchProduct', 'NoSuchVersion'],
  ...['RequestLimitExceeded', 'RequestLimitExceeded.GlobalRegionUinLimitExceeded'],
  ...['RequestLimitExceeded.IPLimitExceeded', 'RequestLimitExceeded.UinLimitExceeded', 'RequestSizeLimitExceeded'],
  ...['ResourceInUse', 'ResourceInsufficient', 'ResourceNotFound', 'ResourceUnavailable', 'ResponseSizeLimitExceeded'],
  ...['ServiceUnavailable', 'UnauthorizedOperation', 'UnknownParameter', 'UnsupportedOperation'],
  ...['UnsupportedProtocol', 'UnsupportedRegion'],
  ...['FailedOperation.EngineRequestTimeout', 'FailedOperation.EngineServerError'],
  ...['FailedOperation.EngineServerLimitExceeded', 'FailedOperation.FreeResourcePackExhausted'],
  ...['FailedOperation.ResourcePackExhausted', 'FailedOperation.ServiceNotActivated', 'FailedOperation.ServiceStop'],
  ...['FailedOperation.ServiceStopArrears', 'InvalidParameterValue.Model', 'RequestLimitExceeded.JobNumExceed'],
  ...[
    'UnsupportedOperation.NonWhitelistAccount',
    'FailedOperation.ConsoleServerError',
    'FailedOperation.DownloadError',
  ],
  ...['FailedOperation.GenerateImageFailed', 'FailedOperation.ImageDecodeFailed', 'FailedOperation.ImageDownloadError'],
  ...['FailedOperation.InnerError', 'FailedOperation.JobNotExist', 'FailedOperation.JobNotFound'],
  ...['FailedOperation.PartnerAccountUnSupport', 'FailedOperation.ServerError', 'FailedOperation.SetPayModeExceed'],
  ...['OperationDenied.ImageIllegalDetected', 'OperationDenied.TextIllegalDetected'],
  ...['ResourceUnavailable.InArrears', 'ResourceUnavailable.LowBalance', 'ResourcesSoldOut.ChargeStatusException'],
];

const operation = (...names: string[]) => names.map((name) => `FailedOperation.${name}`);

export const ERROR_CLASSES: ErrorClasses = {
  BALANCE: [
    'ResourceInsufficient',
    ...operation('FreeResourcePackExhausted', 'ResourcePackExhausted', 'ServiceStopArrears'),
    ...['ResourceUnavailable.InArrears', 'ResourceUnavailable.LowBalance'],
    'ResourcesSoldOut.ChargeStatusException',
  ],
  RATE_LIMITED: [
    ...['LimitExceeded', 'RequestLimitExceeded', 'RequestLimitExceeded.GlobalRegionUinLimitExceeded'],
    ...['RequestLimitExceeded.IPLimitExceeded', 'RequestLimitExceeded.UinLimitExceeded', 'ResourceInUse'],
    ...[...operation('EngineServerLimitExceeded'), 'RequestLimitExceeded.JobNumExceed'],
  ],
  TRANSIENT: [
    ...['FailedOperation', 'InternalError', 'ResourceUnavailable', 'ResponseSizeLimitExceeded'],
    ...['ServiceUnavailable', ...operation('EngineRequestTimeout', 'EngineServerError', 'ConsoleServerError')],
    ...operation('InnerError', 'ServerError'),
  ],
  RESULT_EXPIRED: ['ResourceNotFound', ...operation('JobNotExist', 'JobNotFound')],
  CONTENT_POLICY: [
    ...operation('GenerateImageFailed'),
    ...['OperationDenied.ImageIllegalDetected', 'OperationDenied.TextIllegalDetected'],
  ],
};

const Order = z.strictObject({
  model: z.enum(['3.0', '3.1', 'hy-3d-3.0', 'hy-3d-3.1']).optional(),
  prompt: z.string().min(1).max(1024).optional(),
  picture: z.base64().optional(),
  pbr: z.boolean(),
  faces: z.number().int().min(3000).max(1_500_000).optional(),
  kind: z.enum(['Normal', 'Geometry'], 'LowPoly and Sketch are not on 3.1'),
});

const Cloud = z.strictObject({
  Model: z.string().optional(),
  Prompt: z.string().optional(),
  ImageBase64: z.string().optional(),
  EnablePBR: z.boolean(),
  FaceCount: z.number().optional(),
  GenerateType: z.string(),
});
const Hub = z.strictObject({
  model: z.string(),
  prompt: z.string().optional(),
  image_base64: z.string().optional(),
  enable_pbr: z.boolean(),
  face_count: z.number().optional(),
  generate_type: z.string(),
});

type Refuse = (code: string, message: string) => never;

/** Both APIs at one address: the signed one, which always answers with status 200, and the one with a bearer key. */
export async function startHunyuan(secretId = SECRET_ID, key = 'hub-double-0123456789'): Promise<HunyuanDouble> {
  const started = await startDouble((request, double) => {
    if (request.path.startsWith('/files/')) return fileOf(request, double);
    return request.path.startsWith('/v1/api/3d/') ? byKey(request, double) : signed(request, double);
  });
  const hunyuan: HunyuanDouble = Object.assign(started, {
    secretId,
    key,
    stateOf: (): HunyuanState => ({ status: 'DONE' }),
    takesModel: true,
  });

  function signed(request: VendorRequest, double: Double): Reply {
    const answer = (body: object) => ({ body: { Response: { ...body, RequestId: 'request-1' } } });
    const refuse: Refuse = (Code, Message) => {
      throw new Refused(answer({ Error: { Code, Message } }));
    };
    const { headers, body } = request;
    const credential = SIGNED.exec(headers.authorization ?? '')?.[1];
    if (credential === undefined) return refuse('AuthFailure.SignatureFailure', 'The signature is wrong');
    if (credential !== secretId)
      return refuse('AuthFailure.SecretIdNotFound', `The SecretId ${credential} is not found`);
    const skew = Math.abs(Number(headers['x-tc-timestamp']) * 1000 - double.now());
    if (!(skew < 300_000)) return refuse('AuthFailure.SignatureExpire', 'The clock is off');
    if (!/^\d{4}-\d\d-\d\d$/.test(String(headers['x-tc-version']))) return refuse('InvalidParameter', 'Version');
    if (headers['x-tc-region'] === undefined) return refuse('MissingParameter', 'Region');
    if (headers['x-tc-action'] === 'SubmitHunyuanTo3DProJob') {
      const parsed = Cloud.safeParse(body);
      if (!parsed.success) return refuse('InvalidParameter', parsed.error.issues[0]?.message ?? '');
      if (!hunyuan.takesModel && 'Model' in parsed.data) return refuse('UnknownParameter', 'Model');
      const { Model, Prompt, ImageBase64, EnablePBR, FaceCount, GenerateType } = parsed.data;
      const order = { model: Model, prompt: Prompt, picture: ImageBase64, pbr: EnablePBR, faces: FaceCount };
      return answer({ JobId: take({ ...order, kind: GenerateType }, double, refuse) });
    }
    if (headers['x-tc-action'] !== 'QueryHunyuanTo3DProJob') return refuse('InvalidAction', 'There is no such action');
    const { id, status, code, message, files } = jobOf(
      z.object({ JobId: z.string() }).parse(body).JobId,
      double,
      refuse,
    );
    return answer({
      Status: status,
      ErrorCode: code ?? '',
      ErrorMessage: message ?? '',
      ResultFile3Ds: status === 'DONE' ? (files ?? filesOf(id, double)) : [],
    });
  }

  function byKey({ path, headers, body }: VendorRequest, double: Double): Reply {
    const refuseWith =
      (status: number): Refuse =>
      (code, message) => {
        throw new Refused({ status, body: { error: { code, message, type: 'error' } } });
      };
    if (headers.authorization !== `Bearer ${key}`) return refuseWith(401)('invalid_api_key', 'The key is wrong');
    if (path.endsWith('/submit')) {
      const parsed = Hub.safeParse(body);
      if (!parsed.success) return refuseWith(400)('invalid_request', parsed.error.issues[0]?.message ?? '');
      const { model, prompt, image_base64, enable_pbr, face_count, generate_type } = parsed.data;
      const order = { model, prompt, picture: image_base64, pbr: enable_pbr, faces: face_count, kind: generate_type };
      return { body: { id: take(order, double, refuseWith(400)), status: 'queued', request_id: 'request-1' } };
    }
    const asked = z.object({ id: z.string(), model: z.string() }).parse(body);
    const { id, status, code, message, files } = jobOf(asked.id, double, refuseWith(404));
    const data = (files ?? filesOf(id, double)).map(({ Type, Url }) => ({ type: Type, url: Url }));
    const states = { WAIT: 'queued', RUN: 'in_progress', FAIL: 'failed', DONE: 'completed' };
    return {
      body: {
        status: states[status],
        ...(status === 'DONE' && { data }),
        ...(status === 'FAIL' && { error: { code, message } }),
      },
    };
  }

  function take(asked: object, double: Double, refuse: Refuse): string {
    const parsed = Order.safeParse(asked);
    if (!parsed.success) return refuse('InvalidParameterValue', parsed.error.issues[0]?.message ?? '');
    const { prompt, picture } = parsed.data;
    if ((prompt === undefined) === (picture === undefined))
      return refuse('InvalidParameter', 'Prompt or Image, not both');
    if (Buffer.from(picture ?? '', 'base64').length > MAX_PICTURE_BYTES) {
      return refuse('InvalidParameterValue.ImageSizeExceed', 'The picture is too large');
    }
    return double.take({ prompt: prompt ?? 'a picture' }).id;
  }

  function jobOf(id: string, double: Double, refuse: Refuse) {
    const order = double.orders.find((each) => each.id === id);
    const isKnown = order !== undefined && double.now() - order.takenAt < LIFE_MS;
    if (!isKnown) return refuse('FailedOperation.JobNotExist', 'There is no such job');
    return { id, ...hunyuan.stateOf(id) };
  }

  const filesOf = (id: string, double: Double) => [
    { Type: 'OBJ', Url: `${double.url}/files/${id}.zip?q-signature=signed-${id}`, PreviewImageUrl: '' },
    { Type: 'GLB', Url: `${double.url}/files/${id}.glb?q-signature=signed-${id}`, PreviewImageUrl: '' },
  ];

  async function fileOf({ path, query }: VendorRequest, double: Double): Promise<Reply> {
    const order = double.orders.find(({ id }) => path === `/files/${id}.glb`);
    if (order === undefined || query.get('q-signature') !== `signed-${order.id}`) return { status: 403, body: '' };
    if (double.now() - order.takenAt > LIFE_MS) return { status: 403, body: '' };
    return { headers: { 'content-type': 'model/gltf-binary' }, body: await mediaOf('hunyuan3d-3.1', order.id) };
  }
  return hunyuan;
}

const views = ['left', 'right', 'back', 'top', 'bottom', 'left_front', 'right_front'];
const tencent: Schema = {
  Prompt: words(1024),
  ImageBase64: string(),
  ImageUrl: string(),
  MultiViewImages: list(
    object({ ViewType: required(string(...views)), ViewImageBase64: string(), ViewImageUrl: string() }),
  ),
  EnablePBR: boolean,
  FaceCount: integer(3000, 1_500_000),
  GenerateType: string('Normal', 'Geometry'),
  ResultFormat: string('STL', 'USDZ', 'FBX'),
};

const tencentJob = (Status: string, more: object = {}) => ({
  Response: { Status, ErrorCode: '', ErrorMessage: '', ResultFile3Ds: [], RequestId: 'request', ...more },
});
const hubJob = (status: string, more: object = {}) => ({ status, request_id: 'request', credit_consumed: 15, ...more });
const FILES = [
  { Type: 'OBJ', Url: 'https://result.example/file.zip', PreviewImageUrl: 'https://result.example/file.png' },
  { Type: 'GLB', Url: RESULT_URL, PreviewImageUrl: '' },
];

/** The settings of Tencent's other API. */
export const tokenHubAt = (url: string): Settings => ({
  TENCENTCLOUD_SECRET_ID: '',
  TENCENTCLOUD_SECRET_KEY: '',
  TOKENHUB_API_KEY: 'k',
  TOKENHUB_BASE_URL: url,
});

export const TENCENT = new VendorDouble({
  families: ['hunyuan3d'],
  settings: (url) => ({
    TENCENTCLOUD_SECRET_ID: SECRET_ID,
    TENCENTCLOUD_SECRET_KEY: 'secret',
    HUNYUAN_ENDPOINT: url,
  }),
  start: async () => ({
    double: await startHunyuan(),
    outputTypeOf: () => '3D',
    mediaFor: ({ id }) => mediaOf('hunyuan3d-3.1', id),
  }),
  checks: { hunyuan3d: '127.0.0.1 accepts the key' },
  pages: {
    SubmitHunyuanTo3DProJob: { ...tencent, Model: string('3.0', '3.1') },
    'SubmitHunyuanTo3DProJob of ai3d.intl': tencent,
    '/v1/api/3d/submit': {
      model: required(string('hy-3d-3.0', 'hy-3d-3.1')),
      prompt: words(1024),
      image_base64: string(),
      image_url: string(),
      multi_view_images: list(object({})),
      generate_type: string('Normal', 'Geometry'),
      enable_pbr: boolean,
      face_count: integer(3000, 1_500_000),
      result_format: string('STL', 'USDZ', 'FBX'),
    },
  },
  pageOf: ({ path, headers }) => String(headers['x-tc-action'] ?? path),
  jobAnswers: [
    {
      name: 'hunyuan3d at Tencent Cloud',
      model: 'hunyuan3d-3.1',
      job: { id: '135' },
      running: [tencentJob('WAIT'), tencentJob('RUN', { ResultFile3Ds: null })],
      succeeded: tencentJob('DONE', { ResultFile3Ds: FILES, ResultCreditConsumed: 20 }),
      result: 'Response.ResultFile3Ds.1.Url',
      failed: tencentJob('FAIL', { ErrorCode: 'FailedOperation.InnerError', ErrorMessage: 'why' }),
      status: 'Response.Status',
      envelope: 'Response',
    },
    {
      name: 'hunyuan3d at TokenHub',
      model: 'hunyuan3d-3.1',
      settings: tokenHubAt,
      job: { id: '135' },
      running: [hubJob('queued'), hubJob('in_progress', { data: null })],
      succeeded: hubJob('completed', { data: FILES.map(({ Type, Url }) => ({ type: Type, url: Url })) }),
      result: 'data.1.url',
      failed: hubJob('failed', { error: { code: 500, message: 'why' } }),
      status: 'status',
    },
  ],
});
