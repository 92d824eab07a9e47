import { upload } from '@review/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './processes.ts';
import { Service } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ SANDBOX_MILLISECONDS: '0' });
  await service.startWorker('left');
});
afterAll(() => service[Symbol.asyncDispose]());

const read = (id: string) =>
  until(`the media of ${id} is read`, async () => {
    const { data } = await service.client.files.get({ params: { id } });
    return data.media !== null && data.media.status !== 'PENDING' && data;
  });

test('a generated picture has a thumbnail, without any key', async () => {
  const id = await service.generate('gpt-image-2');
  await service.waitForEnd(id);
  const { media, renditions, thumbnailUrl } = await read(id);
  expect(media).toMatchObject({ status: 'READY', error: null, kind: 'IMAGE' });
  expect(renditions.map(({ kind }) => kind)).toEqual(['POSTER', 'THUMBNAIL']);
  const picture = Buffer.from(await (await fetch(thumbnailUrl ?? '')).arrayBuffer());
  expect(picture.toString('latin1', 8, 12)).toBe('WEBP');
  const [first] = (await service.client.files.list({ params: { id: service.projectId }, body: {} })).data;
  expect(first).toMatchObject({ id, thumbnailUrl });
});

test('an uploaded file that is damaged says so, and stays UPLOADED', async () => {
  const whole = await service.generate('gpt-image-2');
  await service.waitForEnd(whole);
  const png = await service.bytesOf(whole);
  const source = new Uint8Array(png.subarray(0, png.length / 2));
  const { id } = await upload(service.client, { to: { project: service.projectId }, source, name: 'half.png' });
  expect(await read(id)).toMatchObject({
    status: 'UPLOADED',
    media: { status: 'FAILED', error: { code: 'UNREADABLE' } },
    renditions: [],
  });
});

test.each([
  ['pdf', { kind: 'DOCUMENT', pageCount: expect.any(Number) }],
  ['meshy-7', { kind: 'MODEL', triangleCount: expect.any(Number) }],
])('a generated file of %s has a poster', async (model, facts) => {
  const id = await service.generate(model);
  await service.waitForEnd(id);
  const { media, renditions } = await read(id);
  expect(media).toMatchObject({ status: 'READY', error: null, ...facts });
  expect(renditions.map(({ kind }) => kind)).toEqual(['POSTER', 'THUMBNAIL']);
});

test('a generated video has its duration, a filmstrip and a waveform', async () => {
  const configs = { resolution: '480p', durationSeconds: 4, aspectRatio: '16:9' } as const;
  const id = await service.generate('seedance-2.5', 'A harbour', { configs });
  await service.waitForEnd(id);
  const { media, renditions, generation } = await read(id);
  expect(media).toMatchObject({ status: 'READY', kind: 'VIDEO', videoCodec: 'h264', audioCodec: 'aac', height: 480 });
  expect(Math.abs((media?.durationMs ?? 0) - 4000)).toBeLessThan(200);
  expect(renditions.map(({ kind }) => kind)).toEqual(['FILMSTRIP', 'POSTER', 'THUMBNAIL', 'WAVEFORM']);
  expect(generation?.warnings).toEqual([]);
});
