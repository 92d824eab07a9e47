import { pixelsOf } from '@review/contract';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lacksChromium, openBrowser } from './browser.ts';
import { startObjectStore } from './object-store.ts';
import { Service } from './service.ts';

const VIDEOS = [
  ['seedance-2.5', { resolution: '480p', durationSeconds: 4, aspectRatio: '16:9', generateAudio: true }],
  ['kling-3.0', { resolution: '720p', durationSeconds: 3, aspectRatio: '9:16', generateAudio: false }],
] as const;

describe.skipIf(lacksChromium())('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  /** The state of a video element after some playback. */
  async function played(url: string) {
    await using page = await browser.newPage();
    await page.setContent('<video></video>');
    return await page.evaluate(async (source) => {
      const video = document.querySelector('video');
      if (video === null) throw new Error('the page has no video element');
      const heard = () => Number(Reflect.get(video, 'webkitAudioDecodedByteCount'));
      const isOver = new Promise<void>((resolve, reject) => {
        video.addEventListener('error', () => reject(new Error(video.error?.message)));
        video.addEventListener('timeupdate', () => video.currentTime > 0.5 && resolve());
      });
      video.src = source;
      await video.play();
      await isOver;
      const { duration, videoWidth, videoHeight, currentTime } = video;
      return { duration, videoWidth, videoHeight, currentTime, heard: heard() };
    }, url);
  }

  test.each(['disk', 'S3'])('generated videos play from %s', { timeout: 120_000 }, async (storage) => {
    await using store = storage === 'S3' ? await startObjectStore() : null;
    await using service = await Service.start({}, store ? { objectStore: store } : {});
    await service.startWorker('one');
    for (const [model, configs] of VIDEOS) {
      const id = await service.generate(model, 'A slow pan over a foggy harbour', { configs });
      expect((await service.waitForEnd(id)).status).toBe('UPLOADED');
      const { data } = await service.client.files.download({ params: { id } });
      if (store) expect(data.url).toContain(store.gate.url);
      const video = await played(data.url);
      const { width, height } = pixelsOf(configs.resolution, configs.aspectRatio);
      expect([video.videoWidth, video.videoHeight]).toEqual([width, height]);
      expect(video.duration).toBeCloseTo(configs.durationSeconds, 0);
      expect(video.currentTime).toBeGreaterThan(0.5);
      if (configs.generateAudio) expect(video.heard).toBeGreaterThan(0);
      else expect(video.heard).toBe(0);
    }
  });
});
