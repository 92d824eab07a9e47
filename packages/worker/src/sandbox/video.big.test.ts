import { MODELS, pixelsOf } from '@review/contract';
import { expect, it } from 'vitest';
import { readVideo } from './test/read-video.ts';
import { PROMPT, requestOf, workshop } from './test/requests.ts';

const { make } = await workshop();

const cases = MODELS.flatMap(({ id, video }) => {
  const resolution = video?.resolutions.at(-1);
  if (!video || resolution === undefined) return [];
  return video.ratios.map((aspectRatio) => ({ id, resolution, aspectRatio, durationSeconds: video.seconds.max }));
});

it.each(cases)(
  '$id makes $durationSeconds s of $resolution at $aspectRatio',
  async ({ id, ...configs }) => {
    const found = await readVideo((await make(requestOf(id, PROMPT, configs))).path);
    const { width, height } = pixelsOf(configs.resolution, configs.aspectRatio);
    expect(found).toMatchObject({ codec: 'avc', pixels: `${width}x${height}`, frames: configs.durationSeconds * 24 });
    expect(Math.abs(found.seconds - configs.durationSeconds)).toBeLessThanOrEqual(1 / 24);
    expect(found.audio !== null).toBe(requestOf(id).settings?.generateAudio);
    expect(process.resourceUsage().maxRSS / 1024).toBeLessThan(1024);
  },
  120_000,
);
