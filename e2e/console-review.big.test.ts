import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { inConsole, REVIEWER } from './console-fixture.ts';
import { drag } from './desk-roles.ts';
import { PLACEHOLDER, setMedia } from './media-rows.ts';

/** SCREENSHOTS=<folder> stores a screenshot of every state. */
const folder = process.env['SCREENSHOTS'];
const shoot = async (page: Page, name: string) => {
  if (folder !== undefined) await page.screenshot({ path: join(folder, `review-${name}.png`) });
};

const FILM = {
  durationMs: 4000,
  width: 3840,
  height: 2160,
  frameRate: { numerator: 24, denominator: 1 },
  frameCount: 96,
};

inConsole('reviewing in the console', (fixture) => {
  const ids = { film: '', proxied: '', image: '', document: '' };
  beforeAll(async () => {
    const { service } = fixture();
    const configs = { resolution: '480p', durationSeconds: 4, aspectRatio: '16:9' };
    ids.film = await service.generate('seedance-2.0', 'A slow pan over a foggy harbour', { configs });
    ids.proxied = await service.generate('seedance-2.0', 'The same pan, in 4K', { configs });
    ids.image = await service.generate('gpt-image-2', 'A lamp on the pier');
    ids.document = await service.generate('pdf', 'A treatment.\n'.repeat(120));
    await Promise.all(Object.values(ids).map((id) => service.waitForEnd(id)));
    await setMedia(service, ids.proxied, {
      kind: 'VIDEO',
      facts: { ...FILM, videoCodec: 'hevc', placeholder: PLACEHOLDER },
      renditions: [{ kind: 'PROXY', from: ids.film, mimeType: 'video/mp4', width: 960, height: 540 }],
    });
  }, 120_000);

  const isReady = (page: Page) =>
    expect.poll(() => page.evaluate('document.querySelector("video")?.readyState > 2')).toBe(true);
  const state = (page: Page) =>
    page.evaluate<{ time: number; paused: boolean; rate: number; muted: boolean }>(
      '(({ currentTime: time, paused, playbackRate: rate, muted }) => ({ time, paused, rate, muted }))(document.querySelector("video"))',
    );
  const posted = async (id: string) => (await fixture().service.client.comments.listOnFile({ params: { id } })).data;
  const annotations = async (id: string) =>
    (await posted(id)).map(({ annotation, anchor }) => ({ annotation, anchor }));
  const composer = (page: Page) => page.getByRole('textbox', { name: 'Comment' });

  test('a review by keys alone: play, step, mark a range, write; the time is the one when writing began', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${ids.film}`);
    await isReady(page);
    await page.getByText('00:00:00:00 / 00:00:04:00 · frame 0').waitFor();
    await page.keyboard.press('l');
    await expect.poll(async () => (await state(page)).paused).toBe(false);
    await page.keyboard.press('l');
    await expect.poll(async () => (await state(page)).rate).toBe(2);
    await page.keyboard.press('k');
    await expect.poll(async () => (await state(page)).paused).toBe(true);
    await page.keyboard.press('End');
    await page.keyboard.press('j');
    await expect.poll(async () => (await state(page)).time).toBeLessThan(3.9);
    await page.keyboard.press('k');
    await page.keyboard.press('m');
    await expect.poll(async () => (await state(page)).muted).toBe(true);
    await page.keyboard.press('Home');
    for (const frame of [1, 2, 3]) {
      await page.keyboard.press('ArrowRight');
      await page.getByText(`frame ${frame}`, { exact: false }).waitFor();
    }
    await page.getByText('00:00:00:03 /').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Write a comment').waitFor();
    await visit.expectAccessible('the keys');
    await shoot(page, 'keys');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.keyboard.press('i');
    for (let n = 0; n < 24; n++) await page.keyboard.press('.');
    await page.getByText('frame 27').waitFor();
    await page.keyboard.press('o');
    await page.getByRole('checkbox', { name: 'at 0:00.1 – 0:01.1' }).waitFor();
    await page.keyboard.press('c');
    await page.keyboard.type('Slower here, see **the brief**: https://example.com/brief.');
    await visit.expectAccessible('a comment with a range');
    await shoot(page, 'writing');
    await page.keyboard.press('Control+Enter');
    const comment = page.getByRole('article', { name: 'Comment by Olive Owner' }).first();
    await comment.getByRole('link', { name: 'https://example.com/brief', exact: true }).waitFor();
    await comment.getByRole('button', { name: '0:00.1 – 0:01.1' }).waitFor();
    await expect.poll(() => posted(ids.film)).toMatchObject([{ anchor: 146, duration: 1000 }]);

    // Playing goes on until the first key of the comment, not until it is sent.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Home');
    await page.keyboard.press('l');
    await expect.poll(async () => (await state(page)).time).toBeGreaterThan(0.3);
    await page.keyboard.press('c');
    const { time, paused } = await state(page);
    expect(paused).toBe(true);
    await page.keyboard.type('And here.');
    await page.keyboard.press('Escape');
    await page.keyboard.press('End');
    await expect.poll(async () => (await state(page)).time).toBeGreaterThan(3.9);
    await page.keyboard.press('c');
    await page.keyboard.press('Control+Enter');
    await expect.poll(async () => (await posted(ids.film)).length).toBe(2);
    const second = (await posted(ids.film)).find(({ content }) => content === 'And here.');
    expect(Math.abs((second?.anchor ?? 0) - time * 1000)).toBeLessThan(2);
    await visit.expectAccessible('a reviewed film');
    await shoot(page, 'film');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a draft survives a reload, a dead connection and a sign-out, and another person does not see it', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${ids.proxied}?at=1500`);
    await isReady(page);
    await composer(page).fill('Half a thought');
    await page.reload();
    await isReady(page);
    await expect.poll(() => composer(page).inputValue()).toBe('Half a thought');
    await page.keyboard.press('Home');
    await page.getByRole('checkbox', { name: 'at 0:01.5' }).waitFor();

    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByText('Not sent: the service did not answer.').waitFor({ timeout: 60_000 });
    await expect.poll(() => composer(page).inputValue()).toBe('Half a thought');
    await page.context().setOffline(false);

    const changePerson = async (key: string) => {
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('API key').fill(key);
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Projects' }).first().waitFor();
      await visit.open(`/files/${ids.proxied}`);
      await isReady(page);
    };
    await changePerson(await fixture().keyOf(REVIEWER));
    await expect.poll(() => composer(page).inputValue()).toBe('');
    await changePerson(fixture().service.key);
    await expect.poll(() => composer(page).inputValue()).toBe('Half a thought');
    await isReady(page);
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await expect.poll(() => posted(ids.proxied)).toMatchObject([{ content: 'Half a thought', anchor: 1500 }]);
    await page.reload();
    await isReady(page);
    await expect.poll(() => composer(page).inputValue()).toBe('');
  });

  /** Where the red ink of the drawing is when it is rendered at a size, in pixels. */
  const inkAt = (page: Page, width: number, height: number) =>
    page.evaluate<{ left: number; top: number; right: number; bottom: number }>(`(async () => {
      const layer = document.querySelector('svg[data-shapes]').cloneNode(true);
      layer.setAttribute('width', ${width});
      layer.setAttribute('height', ${height});
      layer.setAttribute('fill', 'none');
      const image = new Image();
      image.src = 'data:image/svg+xml,' + encodeURIComponent(new XMLSerializer().serializeToString(layer));
      await image.decode();
      const canvas = new OffscreenCanvas(${width}, ${height}).getContext('2d');
      canvas.drawImage(image, 0, 0, ${width}, ${height});
      const { data } = canvas.getImageData(0, 0, ${width}, ${height});
      const box = { left: 1e9, top: 1e9, right: -1, bottom: -1 };
      for (let at = 3; at < data.length; at += 4) {
        if (data[at] < 128) continue;
        const pixel = (at - 3) / 4;
        const [x, y] = [pixel % ${width}, Math.floor(pixel / ${width})];
        box.left = Math.min(box.left, x); box.right = Math.max(box.right, x + 1);
        box.top = Math.min(box.top, y); box.bottom = Math.max(box.bottom, y + 1);
      }
      return box;
    })()`);
  /** The box of the drawing on the screen, as shares of the picture. */
  const drawnOver = (page: Page, picture: string) =>
    page.evaluate<number[]>(`(() => {
      const { left, top, width, height } = document.querySelector('${picture}').getBoundingClientRect();
      const layer = document.querySelector('svg[data-shapes]').getBoundingClientRect();
      const shape = document.querySelector('svg[data-shapes] rect').getBoundingClientRect();
      return [(layer.left - left) / width, (layer.top - top) / height, layer.width / width, layer.height / height,
        (shape.left - left) / width, (shape.top - top) / height, shape.width / width, shape.height / height];
    })()`);
  const shapeCount = (page: Page) => page.locator('svg[data-shapes]').getAttribute('data-shapes');

  test('a drawing on a 540p proxy lies on the same pixels of the 4K original, on a phone too', async () => {
    const id = ids.proxied;
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${id}?at=2500`);
    await isReady(page);
    await page.getByText('540p proxy of').waitFor();
    await page.keyboard.press('d');
    const tools = page.getByRole('toolbar', { name: 'Drawing' });
    await tools.getByRole('button', { name: 'Rectangle' }).click();
    await drag(page, 'video', [0.25, 0.25], [0.5, 0.75]);
    await expect.poll(() => shapeCount(page)).toBe('1');
    await tools.getByRole('button', { name: 'Pen' }).click();
    await drag(page, 'video', [0.6, 0.3], [0.9, 0.6]);
    await tools.getByRole('button', { name: 'Arrow' }).click();
    await tools.getByRole('button', { name: 'Yellow' }).click();
    await drag(page, 'video', [0.6, 0.8], [0.7, 0.5]);
    await expect.poll(() => shapeCount(page)).toBe('3');
    await page.keyboard.press('Control+z');
    await expect.poll(() => shapeCount(page)).toBe('2');
    await tools.getByRole('button', { name: 'Redo' }).click();
    await expect.poll(() => shapeCount(page)).toBe('3');
    await tools.getByRole('button', { name: 'Text' }).click();
    await page.locator('video').click({ position: { x: 60, y: 40 }, force: true });
    await page.getByRole('textbox', { name: 'Text on the picture' }).fill('Softer light');
    await page.keyboard.press('Enter');
    await expect.poll(() => shapeCount(page)).toBe('4');
    await visit.expectAccessible('a drawing');
    await shoot(page, 'drawing');
    const made = await drawnOver(page, 'video');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    const isDrawn = async () => (await posted(id)).filter(({ annotation }) => annotation !== null);
    await expect.poll(isDrawn).toMatchObject([
      {
        content: null,
        anchor: 2500,
        annotation: {
          version: 1,
          shapes: [
            { type: 'RECTANGLE' },
            { type: 'PEN' },
            { type: 'ARROW', color: '#ffd43b' },
            { type: 'TEXT', text: 'Softer light' },
          ],
        },
      },
    ]);

    await page.getByRole('button', { name: /^0:02\.5/ }).waitFor();
    await page.reload();
    await isReady(page);
    await expect.poll(() => shapeCount(page)).toBe('4');
    expect(await drawnOver(page, 'video')).toEqual(made.map((share) => expect.closeTo(share, 2)));
    const [small, large] = [await inkAt(page, 960, 540), await inkAt(page, 3840, 2160)];
    for (const side of ['left', 'top', 'right', 'bottom'] as const) {
      expect(Math.abs(large[side] - small[side] * 4), side).toBeLessThanOrEqual(4);
    }
    await page.getByRole('button', { name: 'Play the original' }).click();
    await isReady(page);
    await expect.poll(() => shapeCount(page)).toBe('4');
    expect(await drawnOver(page, 'video')).toEqual(made.map((share) => expect.closeTo(share, 2)));
    await page.keyboard.press('d');
    await tools.waitFor();
    await page.keyboard.press('.');
    await tools.waitFor({ state: 'detached' });
    await expect.poll(() => shapeCount(page)).toBe('0');
    await page.getByRole('button', { name: /^0:02\.5/ }).click();
    await expect.poll(() => shapeCount(page)).toBe('4');

    await using phone = await fixture().visit({ phone: true, dark: true });
    await phone.open(`/files/${id}?at=2500`);
    await isReady(phone.page);
    await expect.poll(() => shapeCount(phone.page)).toBe('4');
    expect(await drawnOver(phone.page, 'video')).toEqual(made.map((share) => expect.closeTo(share, 2)));
    await phone.expectAccessible('a drawing on a phone');
    await shoot(phone.page, 'phone');
    expect([...visit.takeConsoleErrors(), ...phone.takeConsoleErrors()]).toEqual([]);
  });

  test('images and pages are drawn on', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${ids.image}`);
    await expect.poll(() => page.evaluate("document.querySelector('main img')?.naturalWidth > 0")).toBe(true);
    await page.getByRole('button', { name: /^Review status of .*: Needs review/ }).click();
    await page.getByRole('menuitem', { name: 'Approved' }).click();
    await page.getByRole('button', { name: /^Review status of .*: Approved/ }).waitFor();
    expect((await fixture().service.client.files.get({ params: { id: ids.image } })).data.tag).toBe('APPROVED');
    await page.keyboard.press('d');
    await page.getByRole('button', { name: 'Ellipse' }).click();
    await drag(page, 'main img', [0.2, 0.2], [0.6, 0.6]);
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByRole('button', { name: 'Drawing', exact: true }).click();
    await expect.poll(() => shapeCount(page)).toBe('1');
    await expect
      .poll(() => annotations(ids.image))
      .toMatchObject([{ anchor: null, annotation: { shapes: [{ type: 'ELLIPSE' }] } }]);
    await visit.settled();
    await visit.expectAccessible('an image with a drawing');
    await shoot(page, 'image');

    await visit.open(`/files/${ids.document}`);
    await expect.poll(() => page.locator('main canvas').getAttribute('data-drawn')).toBe('1');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.locator('main canvas').getAttribute('data-drawn')).toBe('2');
    await page.keyboard.press('d');
    await drag(page, 'main canvas', [0.2, 0.1], [0.6, 0.15]);
    await composer(page).fill('Cut this.');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await expect
      .poll(() => annotations(ids.document))
      .toMatchObject([{ anchor: 2, annotation: { shapes: [{ type: 'PEN' }] } }]);
    await expect.poll(() => shapeCount(page)).toBe('1');
    await visit.expectAccessible('a page with a drawing');
    await shoot(page, 'page');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => shapeCount(page)).toBe('0');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
