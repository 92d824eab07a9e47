import { afterEach, beforeEach, expect, test } from 'vitest';
import { StepError } from '../step-error.ts';
import { contextOf, fakeFamily } from '../test/fake-family.ts';
import { type FakeServer, fakeServer, type Row } from '../test/fake-server.ts';
import { prepare } from './prepare.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer();
});
afterEach(() => server[Symbol.asyncDispose]());

const live = fakeFamily({ stages: () => ['preview', 'refine'] });
const sandbox = fakeFamily({ provider: 'sandbox' });
const SETTINGS = { generateAudio: false, resolution: '768p', durationSeconds: 5, aspectRatio: '16:9' };
const readable = { name: 'a.png', mimeType: 'image/png', size: 1, url: 'http://127.0.0.1/' };
const attachments = (count: number, content: typeof readable | null = readable): Row['attachments'] =>
  Array.from({ length: count }, (_, index) => ({ id: `GA${String(index).padStart(20, '0')}`, content }));

const prepared = (model: string, state: Partial<Row>, family = live) =>
  prepare(contextOf(server, family), server.add(model, state).handed);

test('a valid task returns its stages', async () => {
  expect(await prepared('meshy-7', {})).toEqual({ stages: ['preview', 'refine'] });
});

test.each([
  ['a resolution', { configs: { ...SETTINGS, resolution: '4k' } }, /resolution/],
  ['a length', { configs: { ...SETTINGS, durationSeconds: 16 } }, /durationSeconds/],
  ['a ratio', { configs: { ...SETTINGS, aspectRatio: '2:1' } }, /aspectRatio/],
  ['audio', { configs: { ...SETTINGS, generateAudio: true } }, /generateAudio/],
  ['an output type', { outputType: 'IMAGE' }, /outputModel/],
] as const)('%s outside the limits of the model is refused', async (_, state, message) => {
  await expect(prepared('minimax-h3', state)).rejects.toMatchObject({
    type: 'CONFIG_INVALID',
    retryable: false,
    message: expect.stringMatching(message),
  });
});

test.each([
  ['kling-3.0', { prompt: 'x'.repeat(3073) }, '3072'],
  ['kling-3.0', { attachments: attachments(3) }, 'at most 2'],
  ['meshy-7', { prompt: '👩'.repeat(801) }, '800'],
])('a cap of the vendor of %s is enforced, but not for the sandbox', async (model, state, named) => {
  await expect(prepared(model, state)).rejects.toMatchObject({
    type: 'INVALID_INPUT',
    message: expect.stringContaining(named),
  });
  await expect(prepared(model, state, sandbox)).resolves.toBeDefined();
});

test('the length of a prompt is counted in code points', async () => {
  await expect(prepared('meshy-7', { prompt: '👩'.repeat(800) })).resolves.toBeDefined();
});

test('a missing attachment is refused with its id', async () => {
  const state = { attachments: [...attachments(1), { id: 'GA9', content: null }] };
  await expect(prepared('markdown', state, sandbox)).rejects.toMatchObject({
    type: 'ATTACHMENT_UNREADABLE',
    message: expect.stringContaining('GA9'),
  });
});

test('a refusal of the adapter is thrown', async () => {
  const check = () => {
    throw new StepError('INVALID_INPUT', 'not like this');
  };
  await expect(prepared('markdown', {}, fakeFamily({ check }))).rejects.toMatchObject({ message: 'not like this' });
});

test.each(['CANCELED', 'FAILED', 'SUCCEEDED'] as const)('a generation that is %s throws LOST', async (status) => {
  await expect(prepared('markdown', { status })).rejects.toMatchObject({ type: 'LOST' });
});

test('an unavailable server is retried', async () => {
  server.before = () => {
    throw new TypeError('fetch failed');
  };
  await expect(prepared('markdown', {})).rejects.toMatchObject({ type: 'AWAY', retryable: true });
});
