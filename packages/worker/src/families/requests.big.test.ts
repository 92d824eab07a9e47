import { findModel, MODELS } from '@review/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultsOf, openRecorder, type Recorder } from '../test/recorder.ts';

let recorder: Recorder;
beforeAll(async () => {
  recorder = await openRecorder();
}, 60_000);
afterAll(() => recorder[Symbol.asyncDispose]());

const WITH_PICTURES = MODELS.filter(({ family }) => family !== 'document').map(({ id }) => id);

test.each(WITH_PICTURES)(
  'the request for %s with 1, 2 and 5 pictures has only documented fields and values',
  {
    timeout: 120_000,
  },
  async (model) => {
    const requests = await recorder.requestsOf(model, [1, 2, 5]);
    expect(requests.length).toBeGreaterThan(0);
    expect(faultsOf(requests, findModel(model)?.family)).toEqual([]);
  },
);
