import { z } from 'zod';
import type { ErrorClasses } from '../../test/error-codes.ts';
import { Content, hasFrames, pictureFault, picturesIn, textOf } from './content.ts';
import { type Double, type Order, Refused, type Reply, startDouble, type VendorRequest } from './double.ts';
import { mediaOf } from './media.ts';
import { boolean, integer, item, list, object, required, type Schema, string, WIDE } from './published-schemas.ts';
import { RESULT_URL, VendorDouble } from './vendor-double.ts';

export const ARK_KEY = 'ark-key-0123456789';

export interface SeedanceDouble extends Double {
  /** Includes Ark's base path. */
  baseUrl: string;
  /** The status that a poll returns. */
  progress: (order: Order) => { status: string; error?: { code: string; message: string } };
}

const [DAY_MS, WEEK_MS] = [24 * 3_600_000, 7 * 24 * 3_600_000];
const TASKS = '/api/v3/contents/generations/tasks';
const PICTURES = { formats: ['jpeg', 'png', 'webp', 'tiff', 'gif', 'bmp'], side: { min: 300, max: 6000 } };

/** Ark's video tasks, as documented. */
export async function startSeedance(): Promise<SeedanceDouble> {
  const double: Double = await startDouble(answer);
  const ark: SeedanceDouble = Object.assign(double, {
    baseUrl: `${double.url}/api/v3`,
    progress: () => ({ status: 'succeeded' }),
  });
  const deleted = new Set<string>();

  async function answer(request: VendorRequest): Promise<Reply> {
    const { method, path } = request;
    if (path.startsWith('/media/')) return media(request);
    if (request.headers.authorization !== `Bearer ${ARK_KEY}`) return refusal(401, 'AuthenticationError');
    if (path === TASKS) return method === 'POST' ? create(request) : listTasks();
    const order = find(path.slice(TASKS.length + 1));
    return method === 'DELETE' ? remove(order) : { body: describe(order) };
  }

  async function create({ body }: VendorRequest): Promise<Reply> {
    const parsed = OrderBody.safeParse(body);
    if (!parsed.success) return refusal(400, 'InvalidParameter', z.prettifyError(parsed.error));
    const { model, content, resolution, duration, ratio } = parsed.data;
    const limits = MODELS.find(({ name }) => model === `dreamina-${name}` || model === `doubao-${name}`);
    if (limits === undefined) return refusal(404, 'InvalidEndpointOrModel.NotFound');
    if (!limits.resolutions.includes(resolution)) return refusal(400, 'InvalidParameter', `no ${resolution}`);
    if (duration !== -1 && (duration < 4 || duration > limits.seconds)) {
      return refusal(400, 'InvalidParameter', `no ${duration} seconds`);
    }
    if (limits.name.includes('2-5') && hasFrames(content) && ratio !== 'adaptive') {
      return refusal(400, 'InvalidParameter.TaskTypeConstraint', 'frames need adaptive');
    }
    for (const url of picturesIn(content)) {
      const fault = await pictureFault(url, PICTURES);
      if (fault !== null) return refusal(400, 'InvalidParameter.UnsupportedImageFormat', fault);
    }
    const id = `cgt-20261114183217-${double.orders.length + 1}`;
    return { body: { id: double.take({ id, prompt: textOf(content) }).id } };
  }

  function find(id: string): Order {
    const order = double.orders.find((taken) => taken.id === id);
    if (order !== undefined && !deleted.has(id) && double.now() - order.takenAt < WEEK_MS) return order;
    throw new Refused(refusal(404, 'NotFound.Task', 'the task is not found'));
  }

  /** Cancels a queued task, deletes an ended one, and refuses for a running one. */
  function remove(order: Order): Reply {
    const { status } = stateOf(order);
    if (status === 'running') return refusal(409, 'InvalidAction.RunningTaskDeletion', 'the task is currently running');
    if (status === 'queued') order.canceled = true;
    else deleted.add(order.id);
    return { body: {} };
  }

  const stateOf = (order: Order) => (order.canceled ? { status: 'cancelled' } : ark.progress(order));

  function describe(order: Order): object {
    const state = stateOf(order);
    const url = `${double.url}/media/${order.id}?X-Signature=of-ark`;
    return {
      id: order.id,
      error: null,
      ...state,
      ...(state.status === 'succeeded' && { content: { video_url: url } }),
      created_at: Math.floor(order.takenAt / 1000),
      framespersecond: 24,
    };
  }

  const listTasks = (): Reply => ({ body: { items: double.orders.map(describe), total: double.orders.length } });

  async function media({ path }: VendorRequest): Promise<Reply> {
    const order = double.orders.find(({ id }) => id === path.slice('/media/'.length));
    if (order === undefined || double.now() - order.takenAt > DAY_MS) return { status: 403, body: 'expired' };
    return { headers: { 'content-type': 'video/mp4' }, body: await mediaOf('seedance-2.0', order.id) };
  }

  return ark;
}

/** Ark's codes with their statuses. */
export const ERROR_CODES: Record<number, string[]> = {
  400: [
    ...[
      'MissingParameter',
      'InvalidParameter',
      'InvalidParameter.TaskTypeConstraint',
      'InvalidParameter.OversizedImage',
    ],
    ...['InvalidParameter.UnsupportedImageFormat', 'InvalidImageURL.EmptyURL', 'InvalidImageURL.InvalidFormat'],
    ...['InvalidArgumentError.InvalidImageDetail', 'InvalidArgumentError.InvalidPixelLimit'],
    ...['InvalidEndpoint.ClosedEndpoint', 'ContentSecurityDetectionError', 'SensitiveContentDetected'],
    ...['SensitiveContentDetected.SevereViolation', 'SensitiveContentDetected.Violence'],
    ...['Text', 'Image', 'Video', 'Audio'].flatMap((kind) => [
      `Input${kind}SensitiveContentDetected`,
      `Output${kind}SensitiveContentDetected`,
      `Input${kind}SensitiveContentDetected.PolicyViolation`,
      `Output${kind}SensitiveContentDetected.PolicyViolation`,
    ]),
    'InputImageSensitiveContentDetected.PrivacyInformation',
    ...['InputTextRiskDetection', 'InputImageRiskDetection', 'OutputTextRiskDetection', 'OutputImageRiskDetection'],
  ],
  401: ['AuthenticationError', 'InvalidAccountStatus'],
  403: [
    ...['AccessDenied', 'AccountOverdueError', 'InvalidSubscription', 'OperationDenied.PermissionDenied'],
    ...['OperationDenied.ServiceNotOpen', 'OperationDenied.ServiceOverdue', 'OperationDenied.InvalidState'],
    ...['OperationDenied.UnsupportedPhase', 'OperationDenied.FileQuotaExceeded'],
  ],
  404: [
    ...['ModelNotOpen', 'UnsupportedModel', 'InvalidEndpointOrModel.NotFound', 'NotFound.Task'],
    'InvalidEndpointOrModel.ModelIDAccessDisabled',
  ],
  409: ['InvalidAction.RunningTaskDeletion'],
  429: [
    ...['RateLimitExceeded.EndpointRPMExceeded', 'RateLimitExceeded.EndpointTPMExceeded', 'AccountRateLimitExceeded'],
    ...['ModelAccountRpmRateLimitExceeded', 'ModelAccountTpmRateLimitExceeded', 'ModelAccountIpmRateLimitExceeded'],
    ...['APIAccountRpmRateLimitExceeded', 'InflightBatchsizeExceeded', 'RequestBurstTooFast', 'ServerOverloaded'],
    ...['ModelLoadingError', 'QuotaExceeded', 'SetLimitExceeded'],
  ],
  500: ['InternalServiceError'],
};

export const ERROR_CLASSES: ErrorClasses = {
  AUTH: [
    ...['AuthenticationError', 'InvalidAccountStatus', 'AccessDenied', 'InvalidSubscription'],
    ...['OperationDenied.PermissionDenied', 'OperationDenied.ServiceNotOpen', 'ModelNotOpen', 'UnsupportedModel'],
    ...['InvalidEndpointOrModel.NotFound', 'InvalidEndpointOrModel.ModelIDAccessDisabled'],
  ],
  BALANCE: [
    ...['AccountOverdueError', 'OperationDenied.ServiceOverdue', 'OperationDenied.FileQuotaExceeded'],
    ...['QuotaExceeded', 'SetLimitExceeded'],
  ],
  TRANSIENT: ['InvalidEndpoint.ClosedEndpoint', 'ContentSecurityDetectionError', 'InternalServiceError'],
  RESULT_EXPIRED: ['NotFound.Task'],
};

export const refusal = (status: number, code: string, message = code): Reply => ({
  status,
  body: { error: { code, message, param: '', type: 'BadRequest' } },
});

const MODELS = [
  { name: 'seedance-2-5-260628', resolutions: ['480p', '720p', '1080p'], seconds: 30 },
  { name: 'seedance-2-0-260128', resolutions: ['480p', '720p', '1080p', '4k'], seconds: 15 },
  { name: 'seedance-2-0-fast-260128', resolutions: ['480p', '720p'], seconds: 15 },
  { name: 'seedance-2-0-mini-260615', resolutions: ['480p', '720p'], seconds: 15 },
];

const OrderBody = z.strictObject({
  model: z.string(),
  content: Content,
  resolution: z.string(),
  ratio: z.enum(['21:9', '16:9', '4:3', '1:1', '3:4', '9:16', 'adaptive']),
  duration: z.int(),
  generate_audio: z.boolean(),
  watermark: z.boolean().optional(),
  execution_expires_after: z.int().min(3600).max(259_200).optional(),
});

const ark: Schema = {
  model: required(string()),
  content: required(list(item('image', 'video', 'audio'), { min: 1 })),
  resolution: string('480p', '720p', '1080p', '4k'),
  ratio: string(...WIDE),
  duration: integer(-1, 30),
  generate_audio: boolean,
  watermark: boolean,
  execution_expires_after: integer(3600, 259_200),
  callback_url: string(),
  safety_identifier: string(),
  seed: integer(-1, 2 ** 32 - 1),
  return_last_frame: boolean,
  service_tier: string('default', 'flex'),
  priority: integer(0, 9),
  omni_reference_task_type: string('auto', 'reference', 'edit', 'extend'),
  output_format: string('mp4', 'mov'),
  tools: list(object({ type: required(string('web_search')) })),
};

const arkTask = (status: string, more: object = {}) => ({
  id: 'cgt-1',
  model: 'dreamina-seedance-2-5-260628',
  status,
  error: null,
  created_at: 1778754737,
  updated_at: 1778755025,
  ratio: '16:9',
  duration: 5,
  framespersecond: 24,
  service_tier: 'default',
  ...more,
});
export const ARK = new VendorDouble({
  families: ['seedance'],
  settings: (url) => ({ ARK_API_KEY: ARK_KEY, ARK_BASE_URL: `${url}/api/v3` }),
  start: async () => ({
    double: await startSeedance(),
    outputTypeOf: () => 'VIDEO',
    mediaFor: ({ id }) => mediaOf('seedance-2.0', id),
  }),
  checks: { seedance: 'Ark accepts the key' },
  pages: {
    '/api/v3/contents/generations/tasks': ark,
  },
  jobAnswers: [
    {
      name: 'seedance',
      model: 'seedance-2.5',
      job: { id: 'cgt-1' },
      running: [arkTask('queued'), arkTask('running', { content: { video_url: '' } })],
      succeeded: arkTask('succeeded', {
        content: { video_url: RESULT_URL, last_frame_url: '' },
        usage: { total_tokens: 1 },
      }),
      result: 'content.video_url',
      failed: arkTask('failed', { error: { code: 'OutputVideoSensitiveContentDetected', message: 'no' } }),
      status: 'status',
    },
  ],
});
