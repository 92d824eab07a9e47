import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { upload } from '@review/client';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { H264, makeClip } from '../packages/worker/src/media/test/make-clip.ts';
import { inConsole } from './console-fixture.ts';
import { until } from './processes.ts';

/** A white box in the film, as shares of the picture. */
const BOX = { left: 0.25, top: 0.25, right: 0.5, bottom: 0.75 };
const [WIDTH, HEIGHT] = [3840, 2160];
const FILTER = [
  'lutyuv=y=16:u=128:v=128',
  `drawbox=x=${BOX.left * WIDTH}:y=${BOX.top * HEIGHT}:w=${(BOX.right - BOX.left) * WIDTH}:h=${(BOX.bottom - BOX.top) * HEIGHT}:color=white:t=fill`,
  // Makes the film too heavy for browsers, so that it gets proxies.
  'noise=alls=20:allf=t',
].join(',');

type Edges = Record<keyof typeof BOX, number>;
interface Measured {
  width: number;
  film: Edges;
  drawing: Edges;
}

inConsole('a 4K film in the console', (fixture) => {
  let id: string;
  beforeAll(async () => {
    const { service } = fixture();
    const path = join(service.folder, 'film.mp4');
    const options = { preset: 'ultrafast', qp: '16', g: '4' };
    await makeClip(path, H264, { rate: [8, 1], frames: 16, width: WIDTH, height: HEIGHT, filter: FILTER, options });
    const source = new Uint8Array(await readFile(path));
    ({ id } = await upload(service.client, { to: { project: service.projectId }, source, name: 'film.mp4' }));
    const { media, renditions } = await until(
      'the film has its proxies',
      async () => {
        const { data } = await service.client.files.get({ params: { id } });
        return data.media?.status !== 'PENDING' && data;
      },
      100_000,
    );
    expect(media).toMatchObject({ status: 'READY', width: WIDTH, height: HEIGHT, frameCount: 16 });
    expect(renditions.flatMap(({ kind, height }) => (kind === 'PROXY' ? [height] : []))).toEqual([1080, 540]);
  }, 120_000);

  const isReady = (page: Page) =>
    expect.poll(() => page.evaluate('document.querySelector("video")?.readyState > 2')).toBe(true);
  /** The edges of the box in the decoded frame, and those of the drawn rectangle at the same size, in pixels. */
  const edges = (page: Page) =>
    page.evaluate<Measured>(`(async () => {
      const video = document.querySelector('video');
      const { videoWidth: width, videoHeight: height } = video;
      const bounds = (picture, isInk) => {
        const canvas = new OffscreenCanvas(width, height).getContext('2d');
        canvas.drawImage(picture, 0, 0, width, height);
        const { data } = canvas.getImageData(0, 0, width, height);
        const box = { left: width, top: height, right: 0, bottom: 0 };
        for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
          if (!isInk(data, (y * width + x) * 4)) continue;
          box.left = Math.min(box.left, x); box.right = Math.max(box.right, x + 1);
          box.top = Math.min(box.top, y); box.bottom = Math.max(box.bottom, y + 1);
        }
        return box;
      };
      const layer = document.querySelector('svg[data-shapes]').cloneNode(true);
      layer.setAttribute('width', width);
      layer.setAttribute('height', height);
      layer.setAttribute('fill', 'none');
      const image = new Image();
      image.src = 'data:image/svg+xml,' + encodeURIComponent(new XMLSerializer().serializeToString(layer));
      await image.decode();
      return {
        width,
        film: bounds(video, (data, at) => data[at] > 128),
        drawing: bounds(image, (data, at) => data[at + 3] > 128),
      };
    })()`);

  test('a drawing around a box in its 540p proxy lies around the same box in the original', async () => {
    await using phone = await fixture().visit({ phone: true });
    const small = phone.page;
    await phone.open(`/files/${id}?at=1000`);
    await isReady(small);
    await small.getByText('540p proxy of').waitFor();
    await small.getByRole('button', { name: 'Draw' }).click();
    await small.getByRole('toolbar', { name: 'Drawing' }).getByRole('button', { name: 'Rectangle' }).click();
    const shown = await small.locator('video').boundingBox();
    if (shown === null) throw new Error('the film is not shown');
    const at = (x: number, y: number) => [shown.x + x * shown.width, shown.y + y * shown.height] as const;
    await small.mouse.move(...at(BOX.left, BOX.top));
    await small.mouse.down();
    await small.mouse.move(...at(BOX.right, BOX.bottom), { steps: 5 });
    await small.mouse.up();
    const shapes = (page: Page) => page.locator('svg[data-shapes]').getAttribute('data-shapes');
    await expect.poll(() => shapes(small)).toBe('1');
    const onProxy = await edges(small);
    await small.getByRole('button', { name: 'Comment', exact: true }).click();
    const drawn = async () => (await fixture().service.client.comments.listOnFile({ params: { id } })).data.length;
    await expect.poll(drawn).toBe(1);

    await using desk = await fixture().visit();
    const { page } = desk;
    await desk.open(`/files/${id}?at=1000`);
    await page.getByText('1080p proxy of').waitFor();
    await page.getByRole('button', { name: 'Play the original' }).click();
    await expect.poll(() => page.evaluate('document.querySelector("video")?.videoWidth')).toBe(WIDTH);
    await isReady(page);
    await expect.poll(() => shapes(page)).toBe('1');
    const onOriginal = await edges(page);

    expect([onProxy.width, onOriginal.width]).toEqual([960, WIDTH]);
    for (const side of ['left', 'top', 'right', 'bottom'] as const) {
      const inPixels = BOX[side] * (side === 'left' || side === 'right' ? WIDTH : HEIGHT);
      expect(Math.abs(onOriginal.film[side] - inPixels), `${side} of the box`).toBeLessThanOrEqual(2);
      expect(Math.abs(onProxy.film[side] * 4 - inPixels), `${side} of the box in the proxy`).toBeLessThanOrEqual(8);
      // The same distance from the box in both: pixels of the proxy are four times as large.
      const distance = ({ film, drawing }: Measured) => drawing[side] - film[side];
      expect(Math.abs(distance(onOriginal) - distance(onProxy) * 4), `${side} of the drawing`).toBeLessThanOrEqual(8);
    }
    expect([...phone.takeConsoleErrors(), ...desk.takeConsoleErrors()]).toEqual([]);
  });
});
