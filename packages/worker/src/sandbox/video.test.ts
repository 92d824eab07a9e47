import type { VideoConfigs } from '@review/contract';
import { expect, it } from 'vitest';
import { checkVideo } from './test/check-video.ts';
import { readVideo } from './test/read-video.ts';
import { HOSTILE, PROMPT, requestOf, workshop } from './test/requests.ts';

const sandbox = await workshop();
const { make } = sandbox;

it.concurrent.each<[string, VideoConfigs, string]>([
  ['seedance-2.0-mini', { resolution: '480p', aspectRatio: '1:1', durationSeconds: 4 }, '480x480'],
  ['seedance-2.5', { resolution: '480p', aspectRatio: '16:9', durationSeconds: 30 }, '854x480'],
  ['seedance-2.0-fast', { resolution: '480p', aspectRatio: '21:9', durationSeconds: 15 }, '1120x480'],
  ['minimax-h3-max', { resolution: '480p', aspectRatio: '9:16', durationSeconds: 7 }, '480x854'],
  ['minimax-h3', { resolution: '768p', aspectRatio: '3:4', durationSeconds: 6 }, '768x1024'],
  ['kling-3.0', { resolution: '720p', aspectRatio: '1:1', durationSeconds: 3, generateAudio: false }, '720x720'],
])('%s makes %o', (model, configs, pixels) => checkVideo(sandbox, model, configs, pixels));

const SMALL = { resolution: '480p', aspectRatio: '1:1', durationSeconds: 4 };

it.concurrent.each(HOSTILE)('draws %s', async (_, prompt) => {
  const { path } = await make(requestOf('seedance-2.0-mini', prompt, { ...SMALL, generateAudio: false }));
  expect((await readVideo(path)).pixels).toBe('480x480');
});

it('makes the same picture and sound twice, and others of another prompt', async () => {
  const digest = async (prompt: string) =>
    (await readVideo((await make(requestOf('seedance-2.0-mini', prompt, SMALL))).path)).digest;
  const [picture, sound] = (await digest(PROMPT)).split(' ');
  expect(await digest(PROMPT)).toBe(`${picture} ${sound}`);
  const other = (await digest('Something else')).split(' ');
  expect(other[0]).not.toBe(picture);
  expect(other[1]).not.toBe(sound);
});
