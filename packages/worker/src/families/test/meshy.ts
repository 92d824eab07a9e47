import { z } from 'zod';
import { type Double, Refused, type Reply, startDouble, type VendorRequest } from './double.ts';
import { mediaOf } from './media.ts';

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

export async function startMeshy(key = 'msy_double_0123456789'): Promise<MeshyDouble> {
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
