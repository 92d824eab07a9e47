import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPENAI_KEY, type OpenAiDouble, startOpenAi } from '../packages/worker/src/families/test/openai.ts';
import type { Program } from './processes.ts';
import { Service } from './service.ts';

/** A small SVG whose filters take minutes to render. */
const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="4000"><filter id="f"><feTurbulence baseFrequency=".9" numOctaves="99999"/>${'<feGaussianBlur stdDeviation="99"/>'.repeat(3)}</filter><rect width="100%" height="100%" filter="url(#f)"/></svg>`;

let openai: OpenAiDouble;
let service: Service;
let worker: Program;
beforeAll(async () => {
  openai = await startOpenAi();
  service = await Service.start({ OPENAI_API_KEY: OPENAI_KEY, OPENAI_BASE_URL: openai.baseUrl });
  worker = await service.startWorker('only');
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await openai?.[Symbol.asyncDispose]();
});

test('four hostile SVG attachments fail one by one without delaying other generations', {
  timeout: 240_000,
}, async () => {
  const drawn = (attachment: { id: string }) =>
    service.generate('gpt-image-2', `A lamp like <#${attachment.id}>`, { attachments: [{ id: attachment.id }] });
  const hostile = await Promise.all(
    Array.from({ length: 4 }, async () => drawn(await service.attach(Buffer.from(DRAWING), 'lamp.svg'))),
  );
  await Promise.all(hostile.map((id) => service.waitForRunning(id)));

  const ordinary = await Promise.all([
    drawn(await service.attach(openai.picture)),
    service.generate('gpt-image-2', 'A lamp'),
    service.generate('markdown', 'A lamp'),
  ]);
  for (const id of ordinary) expect(await service.waitForEnd(id, 15)).toMatchObject({ status: 'UPLOADED' });
  // SVGs are decoded one at a time for at most 15 seconds each, so most of them are still waiting.
  const states = await Promise.all(hostile.map(async (id) => (await service.file(id)).generation?.status));
  expect(states.filter((state) => state === 'RUNNING').length).toBeGreaterThanOrEqual(2);

  for (const id of hostile) {
    expect(await service.waitForEnd(id, 200)).toMatchObject({
      status: 'FAILED',
      generation: {
        error: {
          code: 'ATTACHMENT_UNREADABLE',
          message: expect.stringMatching(/^The attachment GA\w+ takes more than 15 seconds/),
          retryable: false,
        },
      },
    });
  }
  expect(worker.child.exitCode).toBeNull();
  expect(openai.orders.length).toBe(2);
});
