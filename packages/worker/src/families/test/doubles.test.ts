import { FAMILIES, findModel, MODELS } from '@review/contract';
import { pino } from 'pino';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readProviders } from '../../config.ts';
import { openFamilies } from '../open.ts';
import { sandboxFamily } from '../sandbox.ts';
import { callFor, downloaded, taskFor } from './asking.ts';
import { startDoubles, VENDORS } from './doubles.ts';

let doubles: Awaited<ReturnType<typeof startDoubles>>;
beforeAll(async () => {
  doubles = await startDoubles();
}, 60_000);
afterAll(() => Promise.all(doubles.map(({ double }) => double[Symbol.asyncDispose]())));

test('every family has a double', () => {
  expect(new Set(doubles.flatMap(({ families }) => families))).toEqual(new Set(FAMILIES));
});

test('every family has answers that its adapter must read', () => {
  const answers = VENDORS.flatMap(({ jobAnswers = [], resultAnswers = [] }) => [...jobAnswers, ...resultAnswers]);
  expect(new Set(answers.map(({ model }) => findModel(model)?.family))).toEqual(new Set(FAMILIES));
});

const AT_ONCE = ['gpt-image-2', 'gemini-3-pro-image', 'markdown'];

test.each(AT_ONCE)(
  '%s: different prompts give different results',
  async (model) => {
    const settings = readProviders(Object.assign({}, ...doubles.map((started) => started.settings)));
    const { family } = openFamilies(settings, sandboxFamily({ jobMs: 0, now: Date.now }), pino({ level: 'silent' }));
    const name = MODELS.find(({ id }) => id === model)?.family ?? 'document';
    const made = async (prompt: string) => {
      const task = taskFor(model, { prompt });
      const submitted = await family(name, null).submit(callFor(task));
      const bytes = 'done' in submitted ? await downloaded(family(name, null), task, submitted.done) : null;
      const orders = doubles.flatMap(({ double, mediaFor }) => double.orders.map((order) => ({ order, mediaFor })));
      const last = orders.find(({ order }) => order.prompt === prompt);
      return { bytes, handedOut: last && (await last.mediaFor(last.order, model)) };
    };
    const [one, other] = [await made(`Lamp 1 of ${model}`), await made(`Lamp 2 of ${model}`)];
    expect(one.bytes).toEqual(one.handedOut);
    expect(one.bytes).not.toEqual(other.bytes);
    if (model !== 'markdown') expect(await sharp(one.bytes ?? undefined).metadata()).toMatchObject({ format: 'png' });
  },
  60_000,
);
