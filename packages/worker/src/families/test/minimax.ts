import { z } from 'zod';
import type { ErrorClasses } from '../../test/error-codes.ts';
import { Content, hasFrames, pictureFault, picturesIn, textOf } from './content.ts';
import { type Double, type Order, Refused, type Reply, startDouble, type VendorRequest } from './double.ts';
import { mediaOf } from './media.ts';
import { integer, item, list, object, required, type Schema, string, WIDE } from './published-schemas.ts';
import { RESULT_URL, VendorDouble } from './vendor-double.ts';

export const MINIMAX_KEY = 'minimax-key-0123456789';

export interface MinimaxDouble extends Double {
  /** How far a task is when it is asked for. */
  progress: (order: Order) => { status: string; error?: { code: string; message: string } };
}

const [ADDRESS_MS, WEEK_MS] = [9 * 3_600_000, 7 * 24 * 3_600_000];
const [TASKS, QUERY] = ['/v2/video_generation', '/v2/query/video_generation'];
const PICTURES = { formats: ['jpeg', 'png', 'webp', 'heif'], side: { min: 256, max: 5760 } };

/** MiniMax's second video API, as documented. */
export async function startMinimax(): Promise<MinimaxDouble> {
  const double: Double = await startDouble(answer);
  const minimax: MinimaxDouble = Object.assign(double, { progress: () => ({ status: 'succeeded' }) });
  const deleted = new Set<string>();

  async function answer(request: VendorRequest): Promise<Reply> {
    const { method, path } = request;
    if (path.startsWith('/media/')) return media(request);
    if (request.headers.authorization !== `Bearer ${MINIMAX_KEY}`) return refusal(401, 'authorized_error', 1004);
    if (method === 'POST' && path === TASKS) return create(request);
    if (path === QUERY) return { body: { items: double.orders.map(describe), total: double.orders.length } };
    if (method === 'DELETE') return remove(find(path.slice(TASKS.length + 1)));
    return { body: { task: describe(find(path.slice(QUERY.length + 1))) } };
  }

  async function create({ body }: VendorRequest): Promise<Reply> {
    const parsed = OrderBody.safeParse(body);
    if (!parsed.success) return refusal(400, 'bad_request_error', 2013, z.prettifyError(parsed.error));
    const { model, content, ratio } = parsed.data;
    const pictures = picturesIn(content);
    if (pictures.length === 0 && (ratio === undefined || ratio === 'adaptive')) {
      return refusal(400, 'bad_request_error', 2013, 'text alone needs a ratio');
    }
    if (pictures.length > (hasFrames(content) ? 2 : 9)) return refusal(400, 'bad_request_error', 2013, 'too many');
    for (const url of pictures) {
      const fault = await pictureFault(url, PICTURES);
      if (fault !== null) return refusal(400, 'bad_request_error', 2013, fault);
    }
    const id = String(424010985738629 + double.orders.length);
    return { body: { task_id: double.take({ id, prompt: textOf(content), stage: model }).id } };
  }

  function find(id: string): Order {
    const order = double.orders.find((taken) => taken.id === id);
    if (order !== undefined && !deleted.has(id) && double.now() - order.takenAt < WEEK_MS) return order;
    throw new Refused(refusal(400, 'bad_request_error', 2013, 'invalid task_id'));
  }

  /** Cancels a queued task, deletes an ended one, and refuses for a running one. */
  function remove(order: Order): Reply {
    const { status } = stateOf(order);
    if (status === 'running' || status === 'cancelled') return refusal(400, 'bad_request_error', 2013, status);
    if (status === 'queued') order.canceled = true;
    else deleted.add(order.id);
    return { body: {} };
  }

  const stateOf = (order: Order) => (order.canceled ? { status: 'cancelled' } : minimax.progress(order));

  /** Each poll returns a new URL. */
  function describe(order: Order): object {
    const state = stateOf(order);
    const url = `${double.url}/media/${order.id}?Expires=${double.now() + ADDRESS_MS}&Signature=of-minimax`;
    return { id: order.id, ...state, ...(state.status === 'succeeded' && { content: { url } }), modality: 'video' };
  }

  async function media({ path, query }: VendorRequest): Promise<Reply> {
    if (Number(query.get('Expires')) < double.now()) return { status: 403, body: 'expired' };
    const body = await mediaOf('minimax-h3', path.slice('/media/'.length));
    return { headers: { 'content-type': 'video/mp4' }, body };
  }

  return minimax;
}

/** MiniMax's codes with the status and the type that they come with. */
export const ERROR_CODES: { status: number; type: string; codes: number[] }[] = [
  { status: 400, type: 'bad_request_error', codes: [1042, 2013] },
  { status: 401, type: 'authorized_error', codes: [1004, 2049] },
  { status: 402, type: 'insufficient_balance_error', codes: [1008] },
  { status: 422, type: 'unprocessable_entity_error', codes: [1026, 1027] },
  { status: 429, type: 'rate_limit_error', codes: [1002, 1039, 1041, 2045, 2056] },
  { status: 500, type: 'server_error', codes: [1000, 1001, 1013, 1024, 1033] },
  { status: 529, type: 'overloaded_error', codes: [] },
];

export const ERROR_CLASSES: ErrorClasses = {
  AUTH: ['authorized_error', 1004, 2049],
  BALANCE: ['insufficient_balance_error', 1008, 2056],
  CONTENT_POLICY: ['unprocessable_entity_error', 1026, 1027],
  TRANSIENT: ['server_error', 1000, 1001, 1013, 1024, 1033],
};

export const refusal = (status: number, type: string, code: number | null, words = 'no'): Reply => ({
  status,
  body: {
    type: 'error',
    error: { type, message: code === null ? words : `${words} (${code})`, http_code: String(status) },
    request_id: 'request',
  },
});

const common = {
  content: Content,
  ratio: z.enum(['21:9', '16:9', '4:3', '1:1', '3:4', '9:16', 'adaptive']).optional(),
};

const OrderBody = z.discriminatedUnion('model', [
  z.strictObject({
    model: z.literal('MiniMax-H3'),
    resolution: z.enum(['768P', '2K']),
    duration: z.int().min(4).max(15),
    ...common,
  }),
  z.strictObject({
    model: z.literal('MiniMax-H3-Max'),
    resolution: z.enum(['480P', '768P']),
    duration: z.int().min(5).max(15),
    extra: z.strictObject({ prompt_expansion_mode: z.enum(['disabled', 'balanced', 'quality']) }).optional(),
    ...common,
  }),
]);

/** The international API; the Chinese one also has `aigc_watermark`. */
const documented = (resolutions: string[], least: number, more: Schema = {}): Schema => ({
  model: required(string('MiniMax-H3', 'MiniMax-H3-Max')),
  content: required(list(item('image', 'video', 'audio'), { min: 1 })),
  resolution: required(string(...resolutions)),
  duration: required(integer(least, 15)),
  ratio: string(...WIDE),
  callback_url: string(),
  ...more,
});

const minimaxTask = (status: string, more: object = {}) => ({
  task: { id: '4240', model: 'MiniMax-H3', status, created_at: 1, duration: 5, modality: 'video', ...more },
});
export const MINIMAX = new VendorDouble({
  families: ['minimax'],
  settings: (url) => ({ MINIMAX_API_KEY: MINIMAX_KEY, MINIMAX_BASE_URL: url }),
  start: async () => ({ double: await startMinimax(), outputTypeOf: () => 'VIDEO', mediaFor: () => null }),
  checks: { minimax: 'MiniMax accepts the key; fal accepts the key' },
  pages: {
    '/v2/video_generation MiniMax-H3': documented(['768P', '2K'], 4),
    '/v2/video_generation MiniMax-H3-Max': documented(['480P', '768P'], 5, {
      extra: object({ prompt_expansion_mode: string('disabled', 'balanced', 'quality') }),
    }),
  },
  pageOf: ({ path, body }) => {
    const { model } = z.object({ model: z.string() }).catch({ model: '' }).parse(body);
    return `${path} ${model}`;
  },
  jobAnswers: [
    {
      name: 'minimax',
      model: 'minimax-h3',
      job: { id: '4240' },
      running: [
        minimaxTask('queued', { error: { code: 0, message: '' } }),
        minimaxTask('running', { content: { url: '' } }),
      ],
      succeeded: minimaxTask('succeeded', { content: { url: RESULT_URL }, usage: { total_seconds: 5 } }),
      result: 'task.content.url',
      failed: minimaxTask('failed', { error: { code: 1026, message: 'sensitive' } }),
      status: 'task.status',
    },
  ],
});
