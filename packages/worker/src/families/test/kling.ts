import sharp from 'sharp';
import { z } from 'zod';
import type { ErrorClasses } from '../../test/error-codes.ts';
import { type Double, type Order, Refused, type Reply, startDouble, type VendorRequest } from './double.ts';
import { mediaOf } from './media.ts';
import {
  boolean,
  type Field,
  integer,
  list,
  object,
  required,
  type Schema,
  string,
  words,
} from './published-schemas.ts';
import { RESULT_URL, VendorDouble } from './vendor-double.ts';

export const KLING_KEY = 'kling-key-0123456789';

export interface KlingDouble extends Double {
  /** The status that a poll returns. */
  progress: (order: Order) => { status: string; message?: string };
  /** The maximum of open tasks. */
  slots: number;
  /** Whether a task is listed yet. */
  isVisible: (order: Order) => boolean;
}

const THIRTY_DAYS_MS = 30 * 24 * 3_600_000;

/** Kling's API of 2026, as documented. */
export async function startKling(): Promise<KlingDouble> {
  const double: Double = await startDouble(answer);
  const kling: KlingDouble = Object.assign(double, {
    progress: () => ({ status: 'succeeded' }),
    slots: 100,
    isVisible: () => true,
  });
  const externalIds = new Map<string, string>();

  async function answer(request: VendorRequest): Promise<Reply> {
    const { method, path } = request;
    if (path.startsWith('/media/')) return media(path.slice('/media/'.length));
    authorize(request);
    if (path === '/tasks') return method === 'GET' ? find(request) : success({ tasks: [] });
    if (method === 'POST') return create(request);
    return refusal(404, 1202, 'method not found');
  }

  async function create({ path, body }: VendorRequest): Promise<Reply> {
    const [, kind = '', model = ''] = path.split('/');
    const schema = ORDERS[`${kind}/${model}`];
    if (schema === undefined) return refusal(404, 1203, 'no such model');
    const parsed = schema.safeParse(body);
    if (!parsed.success) return refusal(400, 1201, z.prettifyError(parsed.error));
    const { options } = parsed.data;
    const contents = parsed.data.contents ?? [];
    for (const { url } of contents) if (url !== undefined) await checkPicture(url);
    const [prompt = parsed.data.prompt ?? ''] = contents.flatMap(({ text }) => text ?? []);
    if ([...externalIds.values()].includes(options.external_task_id)) {
      return refusal(400, 1201, 'external_task_id is already in use');
    }
    const open = kling.orders.filter((order) => !/succe|fail/.test(kling.progress(order).status));
    if (open.length >= kling.slots) return refusal(429, 1303, 'parallel task over resource pack limit');
    const order = double.take({ prompt, id: String(893605946402811985n + BigInt(double.orders.length)) });
    externalIds.set(order.id, options.external_task_id);
    return success({
      id: order.id,
      status: 'submitted',
      create_time: order.takenAt,
      external_id: options.external_task_id,
    });
  }

  function find({ query }: VendorRequest): Reply {
    const [ids, external] = [query.get('task_ids'), query.get('external_task_ids')];
    if ((ids === null) === (external === null)) return refusal(400, 1201, 'one of task_ids and external_task_ids');
    const asked = (ids ?? external ?? '').split(',');
    const found = kling.orders
      .filter(kling.isVisible)
      .filter(
        ({ id, takenAt }) =>
          asked.includes(ids === null ? (externalIds.get(id) ?? '') : id) && double.now() - takenAt < THIRTY_DAYS_MS,
      );
    return success(found.map(describe));
  }

  function describe(order: Order) {
    const { status, message = '' } = kling.progress(order);
    const url = `${double.url}/media/${order.id}?signature=of-kling`;
    return {
      id: order.id,
      status,
      message,
      external_id: externalIds.get(order.id),
      outputs: /succe/.test(status) ? [{ type: 'video', id: order.id, url, watermark_url: '', duration: '5.1' }] : [],
      billing: [{ charge_type: 'unit', amount: '4', package_type: 'video' }],
    };
  }

  async function media(id: string): Promise<Reply> {
    if (!kling.orders.some((order) => order.id === id)) return { status: 404, body: 'gone' };
    return { headers: { 'content-type': 'video/mp4' }, body: await mediaOf('kling-3.0', id) };
  }

  return kling;
}

const success = (data: object): Reply => ({ body: { code: 0, message: 'SUCCEED', request_id: 'request', data } });

/** Kling's codes with their statuses. */
export const ERROR_CODES: Record<number, number[]> = {
  400: [1200, 1201, 1300, 1301],
  401: [1000, 1001, 1002, 1003, 1004],
  403: [1103],
  404: [1202, 1203],
  429: [1100, 1101, 1102, 1302, 1303, 1304],
  500: [5000],
  503: [5001],
  504: [5002],
};

export const ERROR_CLASSES: ErrorClasses = {
  AUTH: [1000, 1001, 1002, 1003, 1004, 1103, 1100, 1304],
  BALANCE: [1101, 1102],
  RATE_LIMITED: [1302, 1303],
  TRANSIENT: [5000, 5001, 5002],
};

export const refusal = (status: number, code: number, message: string): Reply => ({
  status,
  body: { code, message, request_id: 'request' },
});

/** A signed token belongs to the old API, and is refused with the same message as a wrong key. */
function authorize({ headers }: VendorRequest): void {
  if (headers.authorization === `Bearer ${KLING_KEY}`) return;
  throw new Refused(refusal(401, 1002, 'this interface does not support AK/SK'));
}

async function checkPicture(url: string): Promise<void> {
  if (!/^[A-Za-z0-9+/]+=*$/.test(url))
    throw new Refused(refusal(400, 1201, 'the image is neither an address nor base64'));
  const { format, width, height } = await sharp(Buffer.from(url, 'base64')).metadata();
  const ratio = width / height;
  if ((format !== 'png' && format !== 'jpeg') || Math.min(width, height) < 300 || ratio < 0.4 || ratio > 2.5) {
    throw new Refused(refusal(400, 1201, `${format} of ${width}x${height} is not taken`));
  }
}

const options = z.strictObject({
  external_task_id: z.string().min(1),
  callback_url: z.url().optional(),
  watermark_info: z.strictObject({ enabled: z.boolean() }).optional(),
});
const turbo = { resolution: z.enum(['720p', '1080p']).optional(), duration: z.int().min(3).max(15).optional() };
const full = {
  resolution: z.enum(['720p', '1080p', '4k']).optional(),
  duration: z.int().min(3).max(15).optional(),
  audio: z.enum(['native', 'off']).optional(),
  multi_shot: z.boolean().optional(),
};
const ratio = z.enum(['16:9', '9:16', '1:1']);

interface KlingRequest {
  prompt?: string | undefined;
  contents?: { text?: string | undefined; url?: string | undefined }[] | undefined;
  options: z.infer<typeof options>;
}

const text = (settings: z.ZodRawShape): z.ZodType<KlingRequest> =>
  z.strictObject({ prompt: z.string().min(1).max(3072), settings: z.strictObject(settings).optional(), options });

const prompt = (most: number) => z.strictObject({ type: z.literal('prompt'), text: z.string().min(1).max(most) });
const frame = (type: string) => z.strictObject({ type: z.literal(type), url: z.string() });
const named = z.strictObject({ type: z.literal('refer_image'), url: z.string(), id: z.string().optional() });

const images = (settings: z.ZodRawShape, contents: z.ZodType<KlingRequest['contents']>): z.ZodType<KlingRequest> =>
  z.strictObject({ contents, settings: z.strictObject(settings), options });

/** The allowed fields of each path. */
const ORDERS: Record<string, z.ZodType<KlingRequest>> = {
  'text-to-video/kling-3.0-turbo': text({ ...turbo, aspect_ratio: ratio.optional() }),
  'text-to-video/kling-3.0': text({ ...full, aspect_ratio: ratio.optional() }),
  'image-to-video/kling-3.0-turbo': images(turbo, z.tuple([prompt(2500), frame('first_frame')])),
  'image-to-video/kling-3.0': images(
    full,
    z.union([
      z.tuple([prompt(3072), frame('first_frame')]),
      z.tuple([prompt(3072), frame('first_frame'), frame('last_frame')]),
    ]),
  ),
  'omni-video/kling-3.0-omni': images(
    { ...full, audio: z.enum(['native', 'original', 'off']).optional(), aspect_ratio: ratio },
    z.array(z.union([prompt(3072), named])).max(8),
  ),
};

const klingOptions = object({
  external_task_id: string(),
  callback_url: string(),
  watermark_info: object({ enabled: required(boolean) }),
});
const klingSettings = (more: Schema): Field =>
  object({ resolution: string('720p', '1080p', '4k'), duration: integer(3, 15), ...more });
const [ratios, shots] = [{ aspect_ratio: string('16:9', '9:16', '1:1') }, { multi_shot: boolean }];
const klingContents = (...types: string[]): Field =>
  required(
    list(object({ type: required(string('prompt', ...types)), text: words(3072), url: string(), id: string() }), {
      min: 1,
    }),
  );
const klingText = (settings: Schema): Schema => ({
  prompt: required(words(3072)),
  settings: klingSettings(settings),
  options: klingOptions,
});
const klingImage = (contents: Field, settings: Schema): Schema => ({
  contents,
  settings: klingSettings(settings),
  options: klingOptions,
});

const klingTask = (status: string, more: object = {}) => ({
  code: 0,
  message: 'SUCCEED',
  request_id: 'request',
  data: [
    { id: '8936', status, message: '', create_time: 1781080778802, external_id: 'FX0-submit', outputs: [], ...more },
  ],
});
export const KLING = new VendorDouble({
  families: ['kling'],
  settings: (url) => ({ KLING_API_KEY: KLING_KEY, KLING_BASE_URL: url }),
  start: async () => ({
    double: await startKling(),
    outputTypeOf: () => 'VIDEO',
    mediaFor: ({ id }) => mediaOf('kling-3.0', id),
  }),
  checks: { kling: 'Kling accepts the key' },
  pages: {
    '/text-to-video/kling-3.0-turbo': klingText(ratios),
    '/text-to-video/kling-3.0': klingText({ ...ratios, ...shots, audio: string('native', 'off') }),
    '/image-to-video/kling-3.0-turbo': klingImage(klingContents('first_frame'), {}),
    '/image-to-video/kling-3.0': klingImage(klingContents('first_frame', 'last_frame'), {
      ...shots,
      audio: string('native', 'off'),
    }),
    '/omni-video/kling-3.0-omni': klingImage(klingContents('refer_image', 'first_frame', 'last_frame', 'refer_video'), {
      ...ratios,
      ...shots,
      audio: string('native', 'off', 'original'),
    }),
  },
  jobAnswers: [
    {
      name: 'kling',
      model: 'kling-3.0',
      job: {
        id: '8936',
        // Read anew by every poll: an unlisted task counts as expired some time after the order.
        get orderedAt() {
          return Date.now();
        },
      },
      running: [klingTask('submitted'), klingTask('processing', { billing: [{ amount: '4' }] })],
      succeeded: klingTask('succeeded', {
        outputs: [
          { type: 'video', id: '1', url: RESULT_URL, watermark_url: '', duration: '5.1' },
          { type: 'element', id: '2', name: 'n' },
        ],
      }),
      result: 'data.0.outputs.0.url',
      failed: klingTask('failed', { message: 'The renderer broke' }),
      status: 'data.0.status',
    },
  ],
});
