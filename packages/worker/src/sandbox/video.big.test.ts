import { MODELS, pixelsOf, type VideoConfigs } from '@review/contract';
import { expect, it, vi } from 'vitest';
import { checkVideo } from './test/check-video.ts';
import { readVideo } from './test/read-video.ts';
import { HOSTILE, requestOf, workshop } from './test/requests.ts';

const sandbox = await workshop();
// A test waits until the videos that were requested before it are made.
vi.setConfig({ testTimeout: 600_000, maxConcurrency: 2 });

const cases = MODELS.flatMap(({ id, video }) => {
  const resolution = video?.resolutions.at(-1);
  if (!video || resolution === undefined) return [];
  const { min, max } = video.seconds;
  // A long video of each ratio would take minutes and differ in nothing else.
  return video.ratios.map((aspectRatio, index) => ({
    ...{ id, resolution, aspectRatio },
    durationSeconds: index === 0 ? max : min,
  }));
});

it.concurrent.each(cases)('$id makes $durationSeconds s of $resolution at $aspectRatio', async ({ id, ...configs }) => {
  const { width, height } = pixelsOf(configs.resolution, configs.aspectRatio);
  await checkVideo(sandbox, id, configs, `${width}x${height}`);
  expect(process.resourceUsage().maxRSS / 1024).toBeLessThan(1024);
});

it.concurrent.each(MODELS.filter(({ video }) => video))(
  '$id uses its defaults, at the smallest resolution',
  async (model) => {
    const resolution = model.video?.resolutions[0] ?? '';
    const pixels = { '480p': '854x480', '720p': '1280x720', '768p': '1366x768' }[resolution] ?? '';
    await checkVideo(sandbox, model.id, { resolution }, pixels);
  },
);

it.concurrent.each<[string, VideoConfigs, string]>([
  ['seedance-2.5', { resolution: '480p', aspectRatio: '16:9', durationSeconds: 30 }, '854x480'],
  ['seedance-2.0-fast', { resolution: '480p', aspectRatio: '21:9', durationSeconds: 15 }, '1120x480'],
  ['minimax-h3-max', { resolution: '480p', aspectRatio: '9:16', durationSeconds: 7 }, '480x854'],
  ['minimax-h3', { resolution: '768p', aspectRatio: '3:4', durationSeconds: 6 }, '768x1024'],
  ['kling-3.0', { resolution: '720p', aspectRatio: '1:1', durationSeconds: 3, generateAudio: false }, '720x720'],
  ['kling-3.0-omni', { resolution: '1080p', aspectRatio: '9:16', durationSeconds: 3 }, '1080x1920'],
  ['seedance-2.0', { resolution: '4k', aspectRatio: '21:9', durationSeconds: 4 }, '3840x1646'],
])('%s makes %o', (model, configs, pixels) => checkVideo(sandbox, model, configs, pixels));

it.concurrent.each(HOSTILE)('draws %s', async (_, prompt) => {
  const configs = { resolution: '480p', aspectRatio: '1:1', durationSeconds: 4, generateAudio: false };
  const { path } = await sandbox.make(requestOf('seedance-2.0-mini', prompt, configs));
  expect((await readVideo(path)).pixels).toBe('480x480');
});
