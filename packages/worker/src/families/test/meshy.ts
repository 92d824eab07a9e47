import { z } from 'zod';
import type { ErrorClasses } from '../../test/error-codes.ts';
import { type Double, Refused, type Reply, startDouble, type VendorRequest } from './double.ts';
import { mediaOf } from './media.ts';
import { boolean, integer, list, required, type Schema, string, words } from './published-schemas.ts';
import { RESULT_URL, VendorDouble } from './vendor-double.ts';

const MESHY_KEY = 'msy_double_0123456789';
const KINDS = ['/openapi/v2/text-to-3d', '/openapi/v1/image-to-3d', '/openapi/v1/multi-image-to-3d'];
const RETENTION_MS = 3 * 24 * 3_600_000;

/** Meshy's statuses, and the names of refusals that share one. */
export const ERROR_CODES: Record<number, string[]> = {
  400: [],
  401: [],
  402: ['InsufficientCredits'],
  403: [],
  404: [],
  422: [],
  429: ['RateLimitExceeded', 'NoMoreConcurrentTasks', 'TooManyPendingTasks', 'LimitExceeded'],
};

export const ERROR_CLASSES: ErrorClasses = {
  AUTH: ['401', '403'],
  BALANCE: ['402', 'InsufficientCredits'],
  RATE_LIMITED: ['429', 'RateLimitExceeded', 'NoMoreConcurrentTasks', 'TooManyPendingTasks', 'LimitExceeded'],
  TRANSIENT: [],
};

const PictureUri = z.string().regex(/^data:image\/(png|jpe?g);base64,[A-Za-z0-9+/]+=*$/, 'image_url is not reachable');
const Formats = z.array(z.enum(['glb', 'fbx', 'obj', 'usdz', 'stl', '3mf'])).optional();
const Preview = z.strictObject({
  mode: z.literal('preview'),
  prompt: z.string().min(1).max(800),
  ai_model: z.enum(['meshy-6', 'meshy-7.1', 'latest'], 'this ai_model is retired or not allowed on this endpoint'),
  target_formats: Formats,
});
const Refine = z.strictObject({
  mode: z.literal('refine'),
  preview_task_id: z.string(),
  enable_pbr: z.boolean(),
  texture_prompt: z.string().max(800).optional(),
});
const PICTURED = {
  ai_model: z.enum(['meshy-6', 'meshy-7', 'meshy-7.1', 'latest'], 'this ai_model is retired'),
  should_texture: z.boolean(),
  enable_pbr: z.boolean(),
  texture_prompt: z.string().max(800).optional(),
  target_formats: Formats,
};
const BODIES = {
  '/openapi/v2/text-to-3d': z.discriminatedUnion('mode', [Preview, Refine]),
  '/openapi/v1/image-to-3d': z.strictObject({ image_url: PictureUri, ...PICTURED }),
  '/openapi/v1/multi-image-to-3d': z.strictObject({ image_urls: z.array(PictureUri).min(1).max(4), ...PICTURED }),
} as const;

/** The state of a job, as the test sets it; done by default. */
export interface MeshyState {
  status: 'PENDING' | 'IN_PROGRESS' | 'SUCCEEDED' | 'FAILED' | 'CANCELED' | 'EXPIRED';
  progress?: number;
  error?: string;
}

export interface MeshyDouble extends Double {
  key: string;
  stateOf: (id: string) => MeshyState;
}

const refuse = (status: number, message: string, more: object = {}): never => {
  throw new Refused({ status, body: { message, ...more } });
};

export async function startMeshy(key = MESHY_KEY): Promise<MeshyDouble> {
  const started = await startDouble((request, double) => {
    if (request.path.startsWith('/files/')) return fileOf(request, double);
    if (request.headers.authorization !== `Bearer ${key}`) return refuse(401, 'Invalid API key');
    if (request.method === 'GET' && request.path === '/openapi/v1/balance') return { body: { balance: 1000 } };
    const kind = KINDS.find((path) => request.path === path || request.path.startsWith(`${path}/`));
    if (kind === undefined) return refuse(404, 'NotFound');
    return request.method === 'POST' ? take(kind, request, double) : about(kind, request, double);
  });
  const meshy: MeshyDouble = Object.assign(started, { key, stateOf: (): MeshyState => ({ status: 'SUCCEEDED' }) });

  function take(kind: string, { body }: VendorRequest, double: Double): Reply {
    const schema = Object.entries(BODIES).find(([path]) => path === kind)?.[1] ?? z.never();
    const parsed = schema.safeParse(body);
    if (!parsed.success) return refuse(400, parsed.error.issues[0]?.message ?? 'bad parameter');
    const asked = parsed.data;
    if ('preview_task_id' in asked) {
      const preview = double.orders.find(({ id }) => id === asked.preview_task_id);
      if (preview === undefined) return refuse(404, 'preview task not found');
      if (meshy.stateOf(preview.id).status !== 'SUCCEEDED') return refuse(400, 'The preview task has not succeeded');
      const { id } = double.take({ prompt: preview.prompt, stage: 'refine' });
      return { status: 202, body: { result: id } };
    }
    const order =
      'prompt' in asked
        ? double.take({ prompt: asked.prompt, stage: 'preview' })
        : double.take({ prompt: asked.texture_prompt ?? '' });
    return { status: 202, body: { result: order.id } };
  }

  function about(kind: string, { method, path }: VendorRequest, double: Double): Reply {
    const order = double.orders.find(({ id }) => path === `${kind}/${id}`);
    const isText = order?.stage !== 'submit';
    if (order === undefined || order.canceled || isText !== (kind === KINDS[0])) return refuse(404, 'Task not found');
    if (double.now() - order.takenAt > RETENTION_MS) return refuse(404, 'Task expired');
    if (method === 'DELETE') {
      order.canceled = true;
      return { status: 200, body: '' };
    }
    const { status, progress = status === 'SUCCEEDED' ? 100 : 0, error = '' } = meshy.stateOf(order.id);
    const url = `${double.url}/files/${order.id}.glb?Signature=signed-${order.id}`;
    return {
      body: {
        id: order.id,
        status,
        progress,
        model_urls: status === 'SUCCEEDED' ? { glb: url } : {},
        created_at: order.takenAt,
        expires_at: order.takenAt + RETENTION_MS,
        task_error: { message: error },
      },
    };
  }

  async function fileOf({ path, query }: VendorRequest, double: Double): Promise<Reply> {
    const order = double.orders.find(({ id }) => path === `/files/${id}.glb`);
    if (order === undefined || query.get('Signature') !== `signed-${order.id}`) return { status: 403, body: '' };
    if (double.now() - order.takenAt > RETENTION_MS) return { status: 403, body: '' };
    return { headers: { 'content-type': 'model/gltf-binary' }, body: await mediaOf('meshy-7', order.id) };
  }
  return meshy;
}

const formats = list(string('glb', 'fbx', 'obj', 'usdz', 'stl', '3mf'));
const meshyShape: Schema = {
  target_formats: formats,
  model_type: string('standard', 'smart-topology'),
  topology: string('quad', 'triangle'),
  target_polycount: integer(100, 300_000),
  should_remesh: boolean,
  decimation_mode: integer(1, 4),
  pose_mode: string('', 'a-pose', 't-pose'),
  auto_size: boolean,
  origin_at: string('bottom', 'center'),
  alpha_thumbnail: boolean,
  moderation: boolean,
};
const meshySurface: Schema = {
  enable_pbr: boolean,
  texture_prompt: words(800),
  texture_resolution: string('2k', '4k', '8k'),
};
const meshyImage = (pictures: Schema): Schema => ({
  ...pictures,
  ...meshyShape,
  ...meshySurface,
  ai_model: string('meshy-6', 'meshy-7', 'meshy-7.1', 'latest'),
  should_texture: boolean,
  ultra_mode: boolean,
});

const meshyTask = (status: string, more: object = {}) => ({
  id: 'task-1',
  type: 'image-to-3d',
  status,
  progress: 50,
  model_urls: { glb: '', fbx: '' },
  thumbnail_url: '',
  preceding_tasks: 0,
  created_at: 1781080778802,
  started_at: 0,
  task_error: { message: '' },
  ...more,
});
export const MESHY = new VendorDouble({
  families: ['meshy'],
  settings: (url) => ({ MESHY_API_KEY: MESHY_KEY, MESHY_BASE_URL: url }),
  start: async () => ({
    double: await startMeshy(),
    outputTypeOf: () => '3D',
    mediaFor: ({ id }) => mediaOf('meshy-7', id),
  }),
  checks: {
    meshy:
      '1000 credits; Meshy has deprecated meshy-7 since 2026-09-18; PROVIDER_MODEL_MAP={"meshy-7":"meshy-7.1"} moves to its successor',
  },
  pages: {
    '/openapi/v2/text-to-3d preview': {
      mode: required(string('preview')),
      prompt: required(words(800)),
      ai_model: string('meshy-6', 'meshy-7.1', 'latest'),
      ...meshyShape,
    },
    '/openapi/v2/text-to-3d refine': {
      mode: required(string('refine')),
      preview_task_id: required(string()),
      target_formats: formats,
      ...meshySurface,
    },
    '/openapi/v1/image-to-3d': meshyImage({ image_url: required(string()) }),
    '/openapi/v1/multi-image-to-3d': meshyImage({ image_urls: required(list(string(), { min: 1, max: 4 })) }),
  },
  pageOf({ path, body }) {
    const { mode } = z.object({ mode: z.string().optional() }).catch({}).parse(body);
    return mode === undefined ? path : `${path} ${mode}`;
  },
  jobAnswers: [
    {
      name: 'meshy',
      model: 'meshy-7',
      job: { id: 'task-1', path: '/openapi/v1/image-to-3d', stage: 'submit' },
      running: [meshyTask('PENDING'), meshyTask('IN_PROGRESS', { task_error: null, model_urls: null })],
      succeeded: meshyTask('SUCCEEDED', { progress: 100, model_urls: { glb: RESULT_URL, fbx: '' } }),
      result: 'model_urls.glb',
      failed: meshyTask('FAILED', { task_error: { message: 'mesh is empty', code: 7 } }),
      status: 'status',
    },
  ],
});
