import { MODELS, type VideoConfigs } from '@review/contract';
import { describe, expect, it } from 'vitest';
import { readVideo } from './test/read-video.ts';
import { HOSTILE, PROMPT, requestOf, workshop } from './test/requests.ts';

const { make } = await workshop();

const FRAME = 1 / 24;

async function check(model: string, configs: VideoConfigs, pixels: string, seconds: number, audible: boolean) {
  const { path, mimeType, extension } = await make(requestOf(model, PROMPT, configs));
  expect({ mimeType, extension }).toEqual({ mimeType: 'video/mp4', extension: 'mp4' });
  const found = await readVideo(path);
  expect(found).toMatchObject({ codec: 'avc', pixels, frames: seconds * 24, streams: true });
  expect(Math.abs(found.seconds - seconds)).toBeLessThanOrEqual(FRAME);
  expect(found.keys).toEqual(Array.from({ length: seconds }, (_, second) => second * 24));
  expect(found.audio?.codec ?? null).toBe(audible ? 'aac' : null);
  if (found.audio) expect(Math.abs(found.audio.seconds - seconds)).toBeLessThanOrEqual(FRAME);
}

it.concurrent.each(MODELS.filter(({ video }) => video))(
  '$id uses its defaults, at the smallest resolution',
  async (model) => {
    const resolution = model.video?.resolutions[0] ?? '';
    const { settings } = requestOf(model.id);
    const pixels = { '480p': '854x480', '720p': '1280x720', '768p': '1366x768' }[resolution] ?? '';
    await check(model.id, { resolution }, pixels, settings?.durationSeconds ?? 0, model.video?.audio ?? false);
  },
);

describe('with settings', () => {
  it.concurrent.each<[string, VideoConfigs, string]>([
    ['seedance-2.0-mini', { resolution: '480p', aspectRatio: '1:1', durationSeconds: 4 }, '480x480'],
    ['seedance-2.5', { resolution: '480p', aspectRatio: '16:9', durationSeconds: 30 }, '854x480'],
    ['seedance-2.0-fast', { resolution: '480p', aspectRatio: '21:9', durationSeconds: 15 }, '1120x480'],
    ['minimax-h3-max', { resolution: '480p', aspectRatio: '9:16', durationSeconds: 7 }, '480x854'],
    ['minimax-h3', { resolution: '768p', aspectRatio: '3:4', durationSeconds: 6 }, '768x1024'],
    ['kling-3.0', { resolution: '720p', aspectRatio: '1:1', durationSeconds: 3, generateAudio: false }, '720x720'],
    ['kling-3.0-omni', { resolution: '1080p', aspectRatio: '9:16', durationSeconds: 3 }, '1080x1920'],
    ['seedance-2.0', { resolution: '4k', aspectRatio: '21:9', durationSeconds: 4 }, '3840x1646'],
  ])('%s makes %o', async (model, configs, pixels) => {
    const { settings } = requestOf(model, PROMPT, configs);
    await check(model, configs, pixels, configs.durationSeconds ?? 0, settings?.generateAudio ?? false);
  });
});

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
