import { expect, it } from 'vitest';
import { MODELS, pixelsOf } from './index.ts';

/** Calculated by hand, for every resolution and ratio of any model. */
const PIXELS = `
480p | 21:9 1120x480 | 16:9 854x480 | 4:3 640x480 | 1:1 480x480 | 3:4 480x640 | 9:16 480x854
720p | 21:9 1680x720 | 16:9 1280x720 | 4:3 960x720 | 1:1 720x720 | 3:4 720x960 | 9:16 720x1280
768p | 21:9 1792x768 | 16:9 1366x768 | 4:3 1024x768 | 1:1 768x768 | 3:4 768x1024 | 9:16 768x1366
1080p | 21:9 2520x1080 | 16:9 1920x1080 | 4:3 1440x1080 | 1:1 1080x1080 | 3:4 1080x1440 | 9:16 1080x1920
2k | 21:9 3360x1440 | 16:9 2560x1440 | 4:3 1920x1440 | 1:1 1440x1440 | 3:4 1440x1920 | 9:16 1440x2560
4k | 21:9 3840x1646 | 16:9 3840x2160 | 4:3 2880x2160 | 1:1 2160x2160 | 3:4 2160x2880 | 9:16 2160x3840
`
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [resolution = '', ...cells] = line.split(' | ');
    return cells.map((cell) => {
      const [ratio = '', pixels = ''] = cell.split(' ');
      return { resolution, ratio, pixels };
    });
  });

it.each(PIXELS)('$resolution at $ratio is $pixels', ({ resolution, ratio, pixels }) => {
  const { width, height } = pixelsOf(resolution, ratio);
  expect(`${width}x${height}`).toBe(pixels);
});

it('knows every resolution and ratio of the model table', () => {
  const known = new Set(PIXELS.map(({ resolution, ratio }) => `${resolution} ${ratio}`));
  for (const { video } of MODELS) {
    for (const resolution of video?.resolutions ?? []) {
      for (const ratio of video?.ratios ?? []) expect(known).toContain(`${resolution} ${ratio}`);
    }
  }
});

it.each([
  ['8k', '16:9'],
  ['720p', '16'],
  ['720p', '0:9'],
  ['720p', 'wide'],
])('refuses %s at %s', (resolution, ratio) => {
  expect(() => pixelsOf(resolution, ratio)).toThrow(RangeError);
});
