import type { GenerationTask } from '@review/contract';
import { expect, test } from 'vitest';
import { generate, type Handover, type Steps, type UnsentStep } from './pipeline.ts';

const TASK: GenerationTask = { fileId: 'FX00000000000000000001', family: 'meshy', epoch: 1 };

const unsent = (name: string): UnsentStep => ({
  id: name,
  name,
  attempt: 1,
  outcome: 'SUCCEEDED',
  message: null,
  milliseconds: 1,
  endedAt: 0,
});

/** Steps that note what they get and pass on their own record. */
function noting(seen: string[], own: Partial<Steps> = {}): Steps {
  const note = async (name: string, records: UnsentStep[] = []): Promise<Handover> => {
    seen.push([name, ...records.map((record) => record.name)].join(' '));
    return { unsent: [...records, unsent(name)] };
  };
  return {
    prepare: async () => ({ ...(await note('prepare')), stages: ['preview', 'refine'] }),
    submit: async (_, stage, records) => ({ unsent: (await note(`submit-${stage}`, records)).unsent.slice(-1) }),
    awaitJob: (_, stage, records) => note(`await-${stage}`, records),
    store: (_, records) => note('store', records),
    finish: (_, records) => note('finish', records),
    async abandon(_, { message }) {
      seen.push(`abandon ${message}`);
    },
    ...own,
  };
}

const toFailure = (error: unknown) => ({ type: 'INTERNAL', message: String(error) });

test('each step gets the records that the one before has not sent', async () => {
  const seen: string[] = [];
  await generate(TASK, noting(seen), toFailure);
  expect(seen).toEqual([
    'prepare',
    'submit-preview prepare',
    'await-preview submit-preview',
    'submit-refine submit-preview await-preview',
    'await-refine submit-refine',
    'store submit-refine await-refine',
    'finish submit-refine await-refine store',
  ]);
});

test('a generation that was finished with its result is not finished again', async () => {
  const seen: string[] = [];
  await generate(TASK, noting(seen, { store: async () => ({ unsent: [], ended: true }) }), toFailure);
  expect(seen.at(-1)).toBe('await-refine submit-refine');
});

test('a failure ends in abandon', async () => {
  const seen: string[] = [];
  await generate(TASK, noting(seen, { awaitJob: () => Promise.reject(new Error('no')) }), toFailure);
  expect(seen).toEqual(['prepare', 'submit-preview prepare', 'abandon Error: no']);
});
