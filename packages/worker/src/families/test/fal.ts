import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ErrorClasses } from '../../test/error-codes.ts';
import { pictureFault } from './content.ts';
import { type Double, type Order, Refused, type Reply, startDouble, type VendorRequest } from './double.ts';
import { mediaOf } from './media.ts';
import { boolean, integer, list, required, type Schema, string, WIDE, words } from './published-schemas.ts';
import { VendorDouble } from './vendor-double.ts';

export const FAL_KEY = 'fal-id:fal-secret-0123456789';

export interface FalDouble extends Double {
  /** The status that a poll returns. */
  progress: (order: Order) => { status: string; error?: string; error_type?: string };
}

const APP = '/minimax/h3-max';

/** fal's queue with H3 Max. A request is validated only when it runs, so that its errors are in the result. */
export async function startFal(): Promise<FalDouble> {
  const double: Double = await startDouble(answer);
  const fal: FalDouble = Object.assign(double, { progress: () => ({ status: 'COMPLETED' }) });
  const faults = new Map<string, object>();

  async function answer(request: VendorRequest): Promise<Reply> {
    const { method, path } = request;
    if (path.startsWith('/media/')) return media(path);
    if (request.headers.authorization !== `Key ${FAL_KEY}`) return { status: 401, body: { detail: 'No access' } };
    if (method === 'POST') return create(request);
    const [, id = '', action] = new RegExp(`^${APP}/requests/([^/]+)(?:/(\\w+))?$`).exec(path) ?? [];
    const order = double.orders.find((taken) => taken.id === id);
    if (order === undefined) return { status: 404, body: { detail: 'Request not found' } };
    if (method === 'PUT' && action === 'cancel') return cancel(order);
    return action === 'status' ? status(order) : result(order);
  }

  async function create({ path, body }: VendorRequest): Promise<Reply> {
    if (path !== `${APP}/text-to-video` && path !== `${APP}/reference-to-video`) {
      return { status: 404, body: { detail: `Path ${path} not found` } };
    }
    const order = double.take({ id: randomUUID(), prompt: z.looseObject({ prompt: z.string() }).parse(body).prompt });
    const parsed = Input.safeParse(body);
    const [issue] = parsed.error?.issues ?? [];
    if (issue)
      faults.set(order.id, { detail: [{ loc: ['body', ...issue.path], msg: issue.message, type: 'value_error' }] });
    for (const url of parsed.data?.reference_image_urls ?? []) {
      const fault = await pictureFault(url, { formats: ['jpeg', 'png', 'webp'], side: { min: 256, max: 5760 } });
      if (fault !== null) faults.set(order.id, { detail: [{ loc: ['body'], msg: fault, type: 'image_load_error' }] });
    }
    const response_url = `${double.url}${APP}/requests/${order.id}`;
    const urls = { response_url, status_url: `${response_url}/status`, cancel_url: `${response_url}/cancel` };
    return { body: { request_id: order.id, status: 'IN_QUEUE', queue_position: 0, ...urls } };
  }

  function status(order: Order): Reply {
    const state = fal.progress(order);
    return { status: state.status === 'COMPLETED' ? 200 : 202, body: { request_id: order.id, ...state } };
  }

  function result({ id }: Order): Reply {
    const fault = faults.get(id);
    if (fault !== undefined) return { status: 422, body: fault };
    return { body: { video: { url: `${double.url}/media/${id}?token=of-fal` }, expanded_prompt: null } };
  }

  function cancel(order: Order): Reply {
    if (fal.progress(order).status === 'COMPLETED')
      throw new Refused({ status: 400, body: { status: 'ALREADY_COMPLETED' } });
    order.canceled = true;
    return { status: 202, body: { status: 'CANCELLATION_REQUESTED' } };
  }

  const media = async (path: string): Promise<Reply> => ({
    headers: { 'content-type': 'video/mp4' },
    body: await mediaOf('minimax-h3-max', path.slice('/media/'.length)),
  });

  return fal;
}

/** The types of fal's errors: of the model, which come as a list, and of the queue. */
export const ERROR_CODES: { model: string[]; request: string[] } = {
  model: [
    ...['internal_server_error', 'generation_timeout', 'downstream_service_error', 'downstream_service_unavailable'],
    ...['content_policy_violation', 'no_media_generated', 'image_too_small', 'image_too_large', 'image_load_error'],
    ...['file_download_error', 'face_detection_error', 'file_too_large', 'greater_than', 'greater_than_equal'],
    ...['less_than', 'less_than_equal', 'multiple_of', 'sequence_too_short', 'sequence_too_long', 'one_of'],
    ...['feature_not_supported', 'unsupported_image_format', 'unsupported_audio_format', 'unsupported_video_format'],
  ],
  request: [
    ...['request_timeout', 'startup_timeout', 'runner_scheduling_failure', 'runner_connection_timeout'],
    ...['runner_disconnected', 'runner_connection_refused', 'runner_connection_error', 'runner_incomplete_response'],
    ...['runner_server_error', 'client_disconnected', 'client_cancelled', 'bad_request', 'internal_error'],
  ],
};

export const ERROR_CLASSES: ErrorClasses = { CONTENT_POLICY: ['content_policy_violation'], AUTH: [], BALANCE: [] };

const Input = z.strictObject({
  prompt: z.string().min(1).max(50_000),
  resolution: z.enum(['480P', '768P', '1080P']),
  duration: z.int().min(5).max(15),
  aspect_ratio: z.enum(['21:9', '16:9', '4:3', '1:1', '3:4', '9:16']),
  prompt_expansion_mode: z.enum(['disabled', 'fast', 'balanced', 'quality']),
  reference_image_urls: z.array(z.string()).max(9).optional(),
});

const documented = (more: Schema = {}): Schema => ({
  prompt: required(words(50_000)),
  duration: integer(5, 15),
  resolution: string('480P', '768P', '1080P'),
  aspect_ratio: string(...WIDE.slice(0, -1)),
  prompt_expansion_mode: string('disabled', 'fast', 'balanced', 'quality'),
  enable_safety_checker: boolean,
  ...more,
});

export const FAL = new VendorDouble({
  families: ['minimax'],
  settings: (url) => ({ FAL_KEY, FAL_QUEUE_URL: url }),
  start: async () => ({ double: await startFal(), outputTypeOf: () => 'VIDEO', mediaFor: () => null }),
  checks: {},
  pages: {
    '/minimax/h3-max/text-to-video': documented(),
    '/minimax/h3-max/reference-to-video': documented({ reference_image_urls: list(string(), { max: 9 }) }),
  },
  jobAnswers: [
    {
      name: 'fal',
      model: 'minimax-h3-max',
      configs: { resolution: '1080p' },
      job: { id: 'r1' },
      running: [
        { status: 'IN_QUEUE', request_id: 'r1', queue_position: 0, response_url: '' },
        { status: 'IN_PROGRESS', request_id: 'r1', logs: [], error: null },
      ],
      succeeded: {
        status: 'COMPLETED',
        request_id: 'r1',
        logs: [],
        metrics: { inference_time: 3 },
        error: null,
        error_type: null,
      },
      result: '-',
      failed: { status: 'COMPLETED', request_id: 'r1', error: 'the runner broke', error_type: 'runner_server_error' },
      status: 'status',
    },
  ],
  resultAnswers: [
    {
      name: 'fal',
      model: 'minimax-h3-max',
      configs: { resolution: '1080p' },
      job: { id: 'r1' },
      answer: {
        video: { url: 'https://result.example/1.mp4', content_type: 'video/mp4' },
        seed: 1,
        expanded_prompt: null,
      },
      reply: (body) => ({ body }),
      wanted: 'https://result.example/1.mp4',
      needed: ['video.url'],
    },
  ],
});
