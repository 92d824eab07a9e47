import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MODELS, type Model, pixelsOf, settingsInEffect, type VideoConfigs } from '@review/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readVideo } from '../packages/worker/src/sandbox/test/read-video.ts';
import { Service, sha256 } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ SANDBOX_MILLISECONDS: '0' });
  await service.startWorker('left');
});
afterAll(() => service[Symbol.asyncDispose]());

/** The smallest that the model can make, upright where it can be. */
const smallest = ({ video }: Model): VideoConfigs | undefined =>
  video === null
    ? undefined
    : {
        resolution: video.resolutions[0] ?? '',
        durationSeconds: video.seconds.min,
        aspectRatio: video.ratios.includes('9:16') ? '9:16' : '16:9',
        generateAudio: video.audio,
      };

const MEDIA = {
  DOCUMENT: /^(application\/pdf|text\/markdown)$/,
  IMAGE: /^image\/png$/,
  VIDEO: /^video\/mp4$/,
  '3D': /^model\/gltf-binary$/,
};

test('every model goes from 202 to a file that is what was asked for', { timeout: 120_000 }, async () => {
  const started = await Promise.all(
    MODELS.map(async (model) => {
      const configs = smallest(model);
      const id = await service.generate(model.id, `A slow pan over ${model.id}`, configs && { configs });
      return { model, configs, id };
    }),
  );
  expect(started).toHaveLength(20);
  for (const { model, configs, id } of started) {
    const file = await service.ended(id, 110);
    expect(file, model.id).toMatchObject({
      status: 'UPLOADED',
      mode: 'GENERATED',
      mimeType: expect.stringMatching(MEDIA[model.outputType]),
      generation: { status: 'SUCCEEDED', progress: 1, provider: 'sandbox', error: null },
    });
    const bytes = await service.bytesOf(id);
    expect([bytes.length, sha256(bytes)], model.id).toEqual([file.size, file.sha256]);
    if (model.video === null) continue;
    const wanted = settingsInEffect(model.video, configs);
    const path = join(service.folder, `${id}.mp4`);
    await writeFile(path, bytes);
    const video = await readVideo(path);
    const { width, height } = pixelsOf(wanted.resolution, wanted.aspectRatio);
    expect(video.pixels, model.id).toBe(`${width}x${height}`);
    expect(video.seconds, model.id).toBeCloseTo(wanted.durationSeconds, 1);
    expect(video.audio?.codec ?? null, model.id).toBe(wanted.generateAudio ? 'aac' : null);
  }
});

test('a file and an attachment of the project go into a generation', async () => {
  const source = await service.generate('markdown', 'The brief');
  expect((await service.ended(source)).status).toBe('UPLOADED');
  const path = join(service.folder, 'reference.txt');
  await writeFile(path, 'A lamp by the window');
  const { client, projectId } = service;
  const upload = await client.attachments.startForGeneration({
    params: { id: projectId },
    body: { name: 'reference.txt', size: 20 },
  });
  const { id: attachment, parts } = upload.data;
  const eTags = [];
  for (const { partNumber, url } of parts) {
    const init = { method: 'PUT', body: createReadStream(path), duplex: 'half', headers: { 'content-length': '20' } };
    const answer = await fetch(url, init as RequestInit);
    eTags.push({ partNumber, eTag: answer.headers.get('etag') ?? '' });
  }
  await client.attachments.completeForGeneration({ params: { id: attachment }, body: { parts: eTags } });
  const id = await service.generate('markdown', `Join <#${source}> and <#${attachment}>`, {
    attachments: [{ id: source }, { id: attachment }],
  });
  const file = await service.ended(id);
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
  const file = await service.ended(id);
  expect(file).toMatchObject({ status: 'FAILED', size: null, sha256: null, generation: { error: { code } } });
  await expect(service.bytesOf(id)).rejects.toMatchObject({ code: 'FILE_NOT_READY' });
});

test('a slow one is canceled while it runs, once', async () => {
  const id = await service.generate('markdown', '[slow] a book');
  await service.running(id);
  await service.client.files.cancel({ params: { id } });
  expect(await service.file(id)).toMatchObject({ status: 'CANCELED', generation: { status: 'CANCELED' } });
  await expect(service.client.files.cancel({ params: { id } })).rejects.toMatchObject({ code: 'FILE_NOT_CANCELABLE' });
});

test('the timeline names the steps', async () => {
  const id = await service.generate('pdf', 'A page');
  await service.ended(id);
  const { data } = await service.client.files.getGeneration({ params: { id } });
  expect(data.engine).toBe('embedded');
  expect(data.steps.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual(
    expect.arrayContaining(['prepare SUCCEEDED', 'submit SUCCEEDED', 'awaitJob SUCCEEDED', 'store SUCCEEDED']),
  );
});

test('work starts at once', async () => {
  const times: number[] = [];
  for (let run = 0; run < 20; run++) {
    const id = await service.generate('markdown', `Note ${run}`);
    const accepted = performance.now();
    while ((await service.file(id)).generation?.status === 'QUEUED');
    times.push(performance.now() - accepted);
    await service.ended(id);
  }
  const median = times.sort((a, b) => a - b)[10] ?? Number.NaN;
  console.log(`202 to RUNNING: median ${median.toFixed(0)} ms of ${times.length}, most ${times.at(-1)?.toFixed(0)} ms`);
  expect(median).toBeLessThan(500);
});
