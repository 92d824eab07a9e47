import { findModel, MODELS } from '@review/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultsOf, openRecorder, type Recorder } from '../test/recorder.ts';
import { hunyuan3d } from './hunyuan3d.ts';
import { callFor, contextFor, taskFor } from './test/asking.ts';
import { TENCENT, tokenHubAt } from './test/hunyuan3d.ts';
import { MESHY } from './test/meshy.ts';
import { faultsIn } from './test/published-schemas.ts';

let recorder: Recorder;
beforeAll(async () => {
  recorder = await openRecorder();
}, 60_000);
afterAll(() => recorder[Symbol.asyncDispose]());

const ASKED = MODELS.filter(({ family }) => family !== 'document').map(({ id }) => id);

test.each(ASKED)('the request for %s has only documented fields and values', async (model) => {
  const requests = await recorder.requestsOf(model, [1]);
  expect(requests.length).toBeGreaterThan(0);
  expect(faultsOf(requests, findModel(model)?.family)).toEqual([]);
});

test('the request for hunyuan3d-3.1 to TokenHub has only documented fields and values', async () => {
  const requests = await recorder.requestsOf('hunyuan3d-3.1', [1], tokenHubAt(recorder.vendor.url));
  expect(requests.map(({ path }) => path)).toContain('/v1/api/3d/submit');
  expect(requests.flatMap(({ path, body }) => faultsIn(body, TENCENT.description.pages[path] ?? {}))).toEqual([]);
});

test('the request for hunyuan3d-3.1 to ai3d.intl has no model', async () => {
  const account = {
    ...({ transport: 'tencent-cloud', secretId: 'i', secretKey: 'k', endpoint: recorder.vendor.url } as const),
    ...{ version: '2025-05-13', region: 'ap-singapore', takesModel: false },
  };
  const task = taskFor('hunyuan3d-3.1');
  await hunyuan3d.open(account, contextFor()).submit(callFor(task));
  const schema = TENCENT.description.pages['SubmitHunyuanTo3DProJob of ai3d.intl'] ?? {};
  expect(faultsIn(recorder.vendor.requests.at(-1)?.body, schema)).toEqual([]);
});

test.each([
  [{ mode: 'preview', prompt: 'x', ai_model: 'meshy-5' }, ['ai_model is "meshy-5"']],
  [{ mode: 'preview', prompt: 'x'.repeat(801) }, ['prompt is 801']],
  [{ mode: 'preview', prompt: 7, seed: 1 }, ['seed is unknown', 'prompt is no string']],
  [{ target_formats: ['glb', 'doc'] }, ['mode is missing', 'prompt is missing', 'target_formats.1 is "doc"']],
])('the check detects %o', (body, faults) => {
  expect(faultsIn(body, MESHY.description.pages['/openapi/v2/text-to-3d preview'] ?? {})).toEqual(faults);
});
