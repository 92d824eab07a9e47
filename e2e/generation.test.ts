import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../scripts/free-port.ts';
import { NO_MEDIA, Service } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ ...NO_MEDIA, SANDBOX_MILLISECONDS: '0' });
  await service.startWorker('left');
});
afterAll(() => service[Symbol.asyncDispose]());

test('a generation uses a project file and an attachment', async () => {
  const source = await service.generate('markdown', 'The brief');
  expect((await service.waitForEnd(source)).status).toBe('UPLOADED');
  const content = 'A lamp by the window';
  const { client, projectId } = service;
  const upload = await client.attachments.startForGeneration({
    params: { id: projectId },
    body: { name: 'reference.txt', size: content.length },
  });
  const { id: attachment, parts } = upload.data;
  const eTags = [];
  for (const { partNumber, url } of parts) {
    const answer = await fetch(url, { method: 'PUT', body: content });
    eTags.push({ partNumber, eTag: answer.headers.get('etag') ?? '' });
  }
  await client.attachments.completeForGeneration({ params: { id: attachment }, body: { parts: eTags } });
  const id = await service.generate('markdown', `Join <#${source}> and <#${attachment}>`, {
    attachments: [{ id: source }, { id: attachment }],
  });
  const file = await service.waitForEnd(id);
  expect(file).toMatchObject({
    status: 'UPLOADED',
    generation: { attachments: [{ id: source }, { id: attachment }] },
  });
  expect((await service.bytesOf(id)).toString()).toContain('reference.txt');
});

test.each([
  ['[fail]', 'PROVIDER_REJECTED'],
  ['[moderated]', 'MODERATED'],
  ['[garbage]', 'PROVIDER_REJECTED'],
])('the prompt %s fails with %s and has no content', async (sentinel, code) => {
  const id = await service.generate('gpt-image-2', `${sentinel} a lamp`);
  const file = await service.waitForEnd(id);
  expect(file).toMatchObject({ status: 'FAILED', size: null, sha256: null, generation: { error: { code } } });
  await expect(service.bytesOf(id)).rejects.toMatchObject({ code: 'FILE_NOT_READY' });
});

test('a running generation can be canceled once', async () => {
  const id = await service.generate('markdown', '[slow] a book');
  await service.waitForRunning(id);
  await service.client.files.cancel({ params: { id } });
  expect(await service.file(id)).toMatchObject({ status: 'CANCELED', generation: { status: 'CANCELED' } });
  await expect(service.client.files.cancel({ params: { id } })).rejects.toMatchObject({ code: 'FILE_NOT_CANCELABLE' });
});

test('the timeline lists the steps', async () => {
  const id = await service.generate('pdf', 'A page');
  await service.waitForEnd(id);
  const { data } = await service.client.files.getGeneration({ params: { id } });
  expect(data.engine).toBe('embedded');
  expect(data.steps.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual(
    ['prepare', 'submit', 'awaitJob', 'store', 'finish'].map((name) => `${name} SUCCEEDED`),
  );
});

test('the worker exports metrics of steps, durations and held leases', async () => {
  const port = await freePort();
  await Promise.all([...service.workers].map((worker) => worker.end('SIGTERM')));
  await service.startWorker('counted', { WORKER_PORT: port });
  const shown = async () => (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).split('\n');
  const stalled = await service.generate('meshy-7', '[stall]');
  await service.waitForEnd(await service.generate('pdf'));
  await expect.poll(shown).toContain('generations_in_progress{family="meshy"} 1');
  for (const step of ['prepare', 'submit', 'awaitJob', 'store', 'finish']) {
    expect(await shown()).toContain(`generation_steps_total{family="document",step="${step}",outcome="SUCCEEDED"} 1`);
    expect(await shown()).toContain(`generation_step_seconds_count{family="document",step="${step}"} 1`);
  }
  await service.client.files.cancel({ params: { id: stalled } });
  await expect.poll(shown).toContain('generations_in_progress{family="meshy"} 0');
});

test('generations start without delay', async () => {
  const times: number[] = [];
  for (let run = 0; run < 20; run++) {
    const id = await service.generate('markdown', `Note ${run}`);
    const accepted = performance.now();
    while ((await service.file(id)).generation?.status === 'QUEUED');
    times.push(performance.now() - accepted);
    await service.waitForEnd(id);
  }
  const median = times.sort((a, b) => a - b)[10] ?? Number.NaN;
  console.log(`202 to RUNNING: median ${median.toFixed(0)} ms of ${times.length}, max ${times.at(-1)?.toFixed(0)} ms`);
  expect(median).toBeLessThan(500);
});
