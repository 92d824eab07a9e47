import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MODELS, pixelsOf, settingsInEffect } from '@review/contract';
import { expect, test } from 'vitest';
import { readVideo } from '../packages/worker/src/sandbox/test/read-video.ts';
import { NO_MEDIA, Service, sha256 } from './service.ts';
import { smallestVideo } from './smallest-video.ts';

const MEDIA = {
  DOCUMENT: /^(application\/pdf|text\/markdown)$/,
  IMAGE: /^image\/png$/,
  VIDEO: /^video\/mp4$/,
  '3D': /^model\/gltf-binary$/,
};

test('every model generates a file as requested', { timeout: 240_000 }, async () => {
  await using service = await Service.start({ ...NO_MEDIA, SANDBOX_MILLISECONDS: '0' });
  await service.startWorker('left');
  const started = await Promise.all(
    MODELS.map(async (model) => {
      const configs = smallestVideo(model);
      const id = await service.generate(model.id, `A slow pan over ${model.id}`, configs && { configs });
      return { model, configs, id };
    }),
  );
  for (const { model, configs, id } of started) {
    const file = await service.waitForEnd(id, 220);
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
