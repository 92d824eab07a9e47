import { type Family, findModel, MODELS, type VideoSettings, type WorkerTask } from '@review/contract';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { hunyuan3d } from './hunyuan3d.ts';
import { callFor, contextFor, familyWith, type Storage, startStorage, taskFor } from './test/asking.ts';
import { type Double, startDouble, type VendorRequest } from './test/double.ts';
import { settingsOfAllAt, VENDORS } from './test/doubles.ts';
import { TENCENT, tokenHubAt } from './test/hunyuan3d.ts';
import { MESHY } from './test/meshy.ts';
import { faultsIn } from './test/published-schemas.ts';

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

/** Returns the faults of a request against the pages of the family's vendors. */
function faultsOf(request: VendorRequest, family: Family | undefined): string[] {
  const pages = VENDORS.filter(({ families }) => families.some((name) => name === family)).map((each) => ({
    page: each.pageOf?.(request) ?? request.path,
    pages: each.pages,
  }));
  const found = pages.find(({ page, pages }) => page in pages);
  if (found === undefined) return [`no page for ${request.path}`];
  return faultsIn(request.body, found.pages[found.page] ?? {}).map((fault) => `${found.page}: ${fault}`);
}

async function requestsOf(model: string, more: Record<string, string> = {}): Promise<VendorRequest[]> {
  const before = vendor.requests.length;
  const family = familyWith({ ...settingsOfAllAt(vendor.url), ...more }, model);
  for (const task of tasksFor(model)) {
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
  const faults = requests.flatMap((request) => faultsOf(request, findModel(model)?.family));
  expect([...new Set(faults)]).toEqual([]);
});

test('the request for hunyuan3d-3.1 to TokenHub has only documented fields and values', async () => {
  const requests = await requestsOf('hunyuan3d-3.1', tokenHubAt(vendor.url));
  expect(requests.map(({ path }) => path)).toContain('/v1/api/3d/submit');
  expect(requests.flatMap(({ path, body }) => faultsIn(body, TENCENT.description.pages[path] ?? {}))).toEqual([]);
});

test('the request for hunyuan3d-3.1 to ai3d.intl has no model', async () => {
  const account = {
    ...({ transport: 'tencent-cloud', secretId: 'i', secretKey: 'k', endpoint: vendor.url } as const),
    ...{ version: '2025-05-13', region: 'ap-singapore', takesModel: false },
  };
  const task = taskFor('hunyuan3d-3.1');
  await hunyuan3d.open(account, contextFor()).submit(callFor(task));
  const schema = TENCENT.description.pages['SubmitHunyuanTo3DProJob of ai3d.intl'] ?? {};
  expect(faultsIn(vendor.requests.at(-1)?.body, schema)).toEqual([]);
});

test.each([
  [{ mode: 'preview', prompt: 'x', ai_model: 'meshy-5' }, ['ai_model is "meshy-5"']],
  [{ mode: 'preview', prompt: 'x'.repeat(801) }, ['prompt is 801']],
  [{ mode: 'preview', prompt: 7, seed: 1 }, ['seed is unknown', 'prompt is no string']],
  [{ target_formats: ['glb', 'doc'] }, ['mode is missing', 'prompt is missing', 'target_formats.1 is "doc"']],
])('the check detects %o', (body, faults) => {
  expect(faultsIn(body, MESHY.description.pages['/openapi/v2/text-to-3d preview'] ?? {})).toEqual(faults);
});
