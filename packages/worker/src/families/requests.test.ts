import { findModel, MODELS, type VideoSettings, type WorkerTask } from '@review/contract';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readProviders } from '../config.ts';
import { hunyuan3d } from './hunyuan3d.ts';
import { openFamilies } from './open.ts';
import { sandboxFamily } from './sandbox.ts';
import { callFor, contextFor, type Storage, startStorage, taskFor } from './test/asking.ts';
import { type Double, startDouble, type VendorRequest } from './test/double.ts';
import { faultsIn, PUBLISHED } from './test/published-schemas.ts';

// Each test makes hundreds of submits.
vi.setConfig({ testTimeout: 60_000 });

let storage: Storage;
let pictures: WorkerTask['attachments'];
/** Accepts and records every request. */
let vendor: Double;
beforeAll(async () => {
  storage = await startStorage();
  pictures = await Promise.all([1, 2, 3, 4, 5].map((number) => storage.picture(number)));
  vendor = await startDouble(() => ({
    body: {
      ...{ id: '1', task_id: '1', request_id: '1', result: '1', name: 'models/veo/operations/1' },
      ...{ data: { id: '1' }, Response: { JobId: '1' } },
    },
  }));
}, 60_000);
afterAll(async () => {
  await vendor[Symbol.asyncDispose]();
  await storage[Symbol.asyncDispose]();
});

const families = (more: Record<string, string> = {}) =>
  openFamilies(
    readProviders({
      OPENAI_API_KEY: 'k',
      OPENAI_BASE_URL: `${vendor.url}/v1`,
      GEMINI_API_KEY: 'k',
      GEMINI_BASE_URL: vendor.url,
      ARK_API_KEY: 'k',
      ARK_BASE_URL: `${vendor.url}/api/v3`,
      KLING_API_KEY: 'k',
      KLING_BASE_URL: vendor.url,
      MINIMAX_API_KEY: 'k',
      MINIMAX_BASE_URL: vendor.url,
      FAL_KEY: 'k',
      FAL_QUEUE_URL: vendor.url,
      MESHY_API_KEY: 'k',
      MESHY_BASE_URL: vendor.url,
      TENCENTCLOUD_SECRET_ID: 'i',
      TENCENTCLOUD_SECRET_KEY: 'k',
      HUNYUAN_ENDPOINT: vendor.url,
      ...more,
    }),
    sandboxFamily({ jobMs: 0, now: Date.now }),
    pino({ level: 'silent' }),
  ).family;

/** The bounds of each limit without pictures, and each count of pictures with two settings, because decoding is slow. */
function tasksFor(model: string): WorkerTask[] {
  const { video, caps } = findModel(model) ?? { video: null, caps: { attachments: 0, promptCharacters: 0 } };
  const prompt = 'x'.repeat(Math.min(2500, caps.promptCharacters ?? 2500));
  const most = caps.attachments ?? 5;
  const counts = [...new Set([0, 1, 2, most])].filter((count) => count <= most);
  const settings: Partial<VideoSettings>[] = video
    ? [
        ...video.resolutions.map((resolution) => ({ resolution })),
        ...video.ratios.map((aspectRatio) => ({ aspectRatio })),
        ...[video.seconds.min, video.seconds.max].map((durationSeconds) => ({ durationSeconds })),
        { generateAudio: false },
      ]
    : [{}];
  return settings.flatMap((configs, index) =>
    (index === 0 || index === settings.length - 1 ? counts : [0]).map((count) =>
      taskFor(model, { prompt, configs, attachments: pictures.slice(0, count) }),
    ),
  );
}

/** The name of the vendor's page that documents the request. */
function pageOf({ path, headers, body }: VendorRequest): string {
  const field = (name: string) => (typeof body === 'object' && body !== null ? Reflect.get(body, name) : '');
  if (headers['x-tc-action'] !== undefined) return String(headers['x-tc-action']);
  if (path === '/v2/video_generation') return `${path} ${field('model')}`;
  if (path === '/openapi/v2/text-to-3d') return `${path} ${field('mode')}`;
  return path.replace(/^(\/v1beta\/models)\/[^:]+/, '$1');
}

async function requestsOf(model: string, more?: Record<string, string>): Promise<VendorRequest[]> {
  const before = vendor.requests.length;
  for (const task of tasksFor(model)) {
    const family = families(more)(task.family, null);
    for (const stage of family.stages(task)) {
      const preview = { id: '1', path: '/openapi/v2/text-to-3d', stage: 'preview' };
      const later = { ...task, stages: { preview: { intents: 1, job: preview } } };
      // The answer does not matter here.
      await family.submit(callFor(later, undefined, stage)).catch(() => {});
    }
  }
  return vendor.requests.slice(before).filter(({ headers }) => !headers['content-type']?.startsWith('multipart/'));
}

const ASKED = MODELS.filter(({ family }) => family !== 'document').map(({ id }) => id);

test.each(ASKED)('the request for %s has only documented fields and values', async (model) => {
  const requests = await requestsOf(model);
  expect(requests.length).toBeGreaterThan(0);
  const faults = requests.flatMap((request) => {
    const page = pageOf(request);
    const schema = PUBLISHED[page];
    return schema === undefined
      ? [`no page for ${page}`]
      : faultsIn(request.body, schema).map((fault) => `${page}: ${fault}`);
  });
  expect([...new Set(faults)]).toEqual([]);
});

test('the request for hunyuan3d-3.1 to TokenHub has only documented fields and values', async () => {
  const hub = {
    TENCENTCLOUD_SECRET_ID: '',
    TENCENTCLOUD_SECRET_KEY: '',
    TOKENHUB_API_KEY: 'k',
    TOKENHUB_BASE_URL: vendor.url,
  };
  const requests = await requestsOf('hunyuan3d-3.1', hub);
  expect(requests.map(({ path }) => path)).toContain('/v1/api/3d/submit');
  expect(requests.flatMap(({ path, body }) => faultsIn(body, PUBLISHED[path] ?? {}))).toEqual([]);
});

test('the request for hunyuan3d-3.1 to ai3d.intl has no model', async () => {
  const account = {
    ...({ transport: 'tencent-cloud', secretId: 'i', secretKey: 'k', endpoint: vendor.url } as const),
    ...{ version: '2025-05-13', region: 'ap-singapore', takesModel: false },
  };
  const task = taskFor('hunyuan3d-3.1');
  await hunyuan3d.open(account, contextFor()).submit(callFor(task));
  const schema = PUBLISHED['SubmitHunyuanTo3DProJob of ai3d.intl'] ?? {};
  expect(faultsIn(vendor.requests.at(-1)?.body, schema)).toEqual([]);
});

test.each([
  [{ mode: 'preview', prompt: 'x', ai_model: 'meshy-5' }, ['ai_model is "meshy-5"']],
  [{ mode: 'preview', prompt: 'x'.repeat(801) }, ['prompt is 801']],
  [{ mode: 'preview', prompt: 7, seed: 1 }, ['seed is unknown', 'prompt is no string']],
  [{ target_formats: ['glb', 'doc'] }, ['mode is missing', 'prompt is missing', 'target_formats.1 is "doc"']],
])('the check detects %o', (body, faults) => {
  expect(faultsIn(body, PUBLISHED['/openapi/v2/text-to-3d preview'] ?? {})).toEqual(faults);
});
