import { join } from 'node:path';
import { downloadStream, upload } from '@review/client';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { inConsole, REVIEWER } from './console-fixture.ts';
import { PLACEHOLDER, setMedia } from './media-rows.ts';
import type { BrowserOptions } from './visit.ts';

/** SCREENSHOTS=<folder> stores a screenshot of every state. */
const folder = process.env['SCREENSHOTS'];
const shoot = async (page: Page, name: string) => {
  if (folder !== undefined) await page.screenshot({ path: join(folder, `media-${name}.png`) });
};

const STRIP = { columns: 4, rows: 4, intervalMs: 250 };
const FILM = {
  durationMs: 4000,
  width: 1920,
  height: 1080,
  frameRate: { numerator: 24_000, denominator: 1001 },
  variableFrameRate: false,
  frameCount: 96,
  videoCodec: 'prores',
  audioCodec: 'pcm_s24le',
  audioChannels: 6,
  hdr: false,
  placeholder: PLACEHOLDER,
};
const PLAYABLE = { ...FILM, videoCodec: 'h264', audioCodec: 'aac', audioChannels: 2 };

/** A second of a tone, as WAV. */
function tone(): Uint8Array<ArrayBuffer> {
  const rate = 8000;
  const wav = Buffer.alloc(44 + rate * 2);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(36 + rate * 2, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(rate, 24);
  wav.writeUInt32LE(rate * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(rate * 2, 40);
  for (let n = 0; n < rate; n++) wav.writeInt16LE(Math.round(9000 * Math.sin(n / 6)), 44 + n * 2);
  return new Uint8Array(wav);
}

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180" onload="parent.hacked = true">
  <script>window.hacked = true; parent.hacked = true;</script>
  <rect width="320" height="180" fill="seagreen"/></svg>`;

inConsole('media in the console', (fixture) => {
  const ids = { poster: '', strip: '', film: '', prores: '', sound: '', waveform: '', svg: '', damaged: '' };
  const send = async (name: string, source: Uint8Array<ArrayBuffer>): Promise<string> =>
    (await upload(fixture().service.client, { to: { project: fixture().service.projectId }, source, name })).id;

  beforeAll(async () => {
    const { service } = fixture();
    const configs = { resolution: '480p', durationSeconds: 4 };
    ids.poster = await service.generate('gpt-image-2', 'A foggy harbour at dawn');
    ids.strip = await service.generate('gpt-image-2', 'A contact sheet');
    ids.film = await service.generate('seedance-2.0', 'A slow pan', { configs });
    for (const id of [ids.poster, ids.strip, ids.film]) await service.waitForEnd(id);
    const content = Buffer.from(await new Response(await downloadStream(service.client, ids.film)).arrayBuffer());
    // The same film with a codec that no browser has.
    ids.prores = await send('master.mov', Buffer.from(content.toString('latin1').replaceAll('avc1', 'apch'), 'latin1'));
    ids.sound = await send('tone.wav', tone());
    const peaks = Array.from({ length: 200 }, (_, n) => Math.abs(Math.sin(n / 15)));
    ids.waveform = await send('peaks.txt', Buffer.from(JSON.stringify({ peaks })));
    ids.svg = await send('logo.svg', Buffer.from(SVG));
    ids.damaged = await send('damaged.png', Buffer.from('89504e470d0a1a0a0000000d4948445200000280', 'hex'));

    await setMedia(service, ids.film, {
      kind: 'VIDEO',
      facts: PLAYABLE,
      thumbnail: ids.poster,
      renditions: [
        { kind: 'FILMSTRIP', from: ids.strip, mimeType: 'image/webp', width: 640, height: 640, filmstrip: STRIP },
      ],
    });
    await setMedia(service, ids.prores, {
      kind: 'VIDEO',
      facts: FILM,
      thumbnail: ids.poster,
      renditions: [
        { kind: 'POSTER', from: ids.poster, mimeType: 'image/webp', width: 640, height: 360 },
        { kind: 'PROXY', from: ids.film, mimeType: 'video/mp4', width: 1920, height: 1080 },
      ],
    });
    await setMedia(service, ids.sound, {
      kind: 'AUDIO',
      facts: { durationMs: 1000, audioCodec: 'pcm_s16le', audioChannels: 1 },
      renditions: [{ kind: 'WAVEFORM', from: ids.waveform, mimeType: 'application/json' }],
    });
    await setMedia(service, ids.damaged, {
      kind: 'IMAGE',
      error: { code: 'UNREADABLE', message: 'The image ends before its first pixel.' },
    });
    await setMedia(service, ids.poster, { kind: 'IMAGE' });
  }, 120_000);

  const rowOf = (page: Page, id: string) =>
    page.getByRole('listitem').filter({ has: page.locator(`a[href$="/${id}"]`) });
  const drawn = (page: Page, selector: string) =>
    expect
      .poll(() => page.evaluate<boolean>(`document.querySelector(${JSON.stringify(selector)})?.naturalWidth > 0`))
      .toBe(true);

  const VARIANTS: BrowserOptions[] = [{}, { dark: true, phone: true }];
  test.each(VARIANTS)('lists show pictures, states and the course of a video: %o', async (options) => {
    await using visit = await fixture().visit(options);
    const { page } = visit;
    const { projectId, client } = fixture().service;
    const name = options.dark ? 'dark-phone' : 'light';
    await visit.open(`/projects/${projectId}`);
    const film = rowOf(page, ids.film);
    await drawn(page, `li:has(a[href="/files/${ids.film}"]) img`);
    await film.getByText('4 s · 1920 × 1080').waitFor();
    await rowOf(page, ids.damaged).getByText('No preview: The image ends before its first pixel.').waitFor();
    await expect
      .poll(() => rowOf(page, ids.poster).locator('[data-media]').getAttribute('title'))
      .toMatch(/is being made/);
    const tile = film.locator('[data-media]');
    const frames: string[] = [];
    for (const x of [1, 35, 50]) {
      await tile.hover({ position: { x, y: 10 } });
      await page.locator('[data-frame]').waitFor();
      frames.push((await page.locator('[data-frame]').getAttribute('data-frame')) ?? '');
    }
    expect(frames.map(Number)).toEqual(frames.map(Number).toSorted((a, b) => a - b));
    expect(new Set(frames).size).toBe(3);
    await visit.expectAccessible('the files');
    await shoot(page, `files-${name}`);

    await visit.open(`/runs?project=${projectId}`);
    await drawn(page, `li:has(a[href="/runs/${ids.film}"]) img`);
    await visit.expectAccessible('the runs');
    await shoot(page, `runs-${name}`);

    const body = { name: `Cut ${name}`, files: [{ id: ids.film }, { id: ids.sound }] };
    const version = (await client.versions.create({ params: { id: projectId }, body })).data.id;
    await visit.open(`/projects/${projectId}/versions/${version}`);
    await drawn(page, `li:has(a[href="/files/${ids.film}"]) img`);
    await shoot(page, `version-${name}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await drawn(page, '[role=dialog] img');
    await page.getByRole('checkbox', { name: 'master.mov' }).waitFor();
    await visit.expectAccessible('the form of a version');
    await shoot(page, `version-form-${name}`);

    await visit.open(`/generate?project=${projectId}&type=IMAGE`);
    await page.getByRole('button', { name: 'From the project' }).click();
    await drawn(page, '[role=tabpanel] img');
    await visit.expectAccessible('the picker');
    await shoot(page, `picker-${name}`);
    await page
      .getByRole('tabpanel')
      .getByRole('button', { name: /master\.mov/ })
      .click();
    await drawn(page, 'form img, main img');

    await visit.open('/projects');
    await drawn(page, `li:has(a[href="/projects/${projectId}"]) img`);
    await visit.expectAccessible('the projects');
    await shoot(page, `projects-${name}`);

    await visit.open(`/compare?left=${ids.film}&right=${ids.prores}`);
    await page.getByText('1080p proxy of the original').waitFor();
    const ready = '[...document.querySelectorAll("video")].filter((film) => film.readyState > 1).length';
    await expect.poll(() => page.evaluate(ready)).toBe(2);
    await visit.expectAccessible('the comparison');
    await shoot(page, `compare-${name}`);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test.each(VARIANTS)('a video plays its proxy, and says why the original does not play: %o', async (options) => {
    await using visit = await fixture().visit(options);
    const { page } = visit;
    const name = options.dark ? 'dark-phone' : 'light';
    await visit.open(`/files/${ids.prores}`);
    await page.getByText('1080p proxy of the ProRes original').waitFor();
    for (const fact of ['4 s', '1920 × 1080', '23.976 frames per second', '96', 'ProRes', 'PCM, 5.1']) {
      await page.getByRole('definition').getByText(fact, { exact: true }).waitFor();
    }
    await expect.poll(() => page.evaluate("document.querySelector('video').readyState > 1")).toBe(true);
    await page.getByRole('button', { name: 'Next frame' }).click();
    await page.getByText('frame 1').waitFor();
    await visit.expectAccessible('a proxy');
    await shoot(page, `proxy-${name}`);

    await page.getByRole('button', { name: 'Play the original' }).click();
    await page.getByText('This browser cannot play ProRes video.').waitFor();
    await drawn(page, 'main img');
    await visit.expectAccessible('a video that cannot be played');
    await shoot(page, `unplayable-${name}`);
    await page.getByRole('button', { name: 'Play the proxy' }).click();
    await page.getByText('1080p proxy of').waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('an original whose URL has expired gets a new one, and continues where its proxy was', async () => {
    const { service } = fixture();
    const make = () => service.generate('seedance-2.0', 'A pan', { configs: { durationSeconds: 4 } });
    const [id, proxy] = [await make(), await make()];
    for (const made of [id, proxy]) await service.waitForEnd(made);
    await setMedia(service, id, {
      kind: 'VIDEO',
      facts: PLAYABLE,
      renditions: [{ kind: 'PROXY', from: proxy, mimeType: 'video/mp4', width: 1920, height: 1080 }],
    });
    const signedNow = async () => (await service.client.files.download({ params: { id } })).data.url;
    await using visit = await fixture().visit();
    const { page } = visit;
    const read = page.waitForResponse((response) => response.url().endsWith(`/${id}/download`));
    await visit.open(`/files/${id}?at=2000`);
    const { url } = (await (await read).json()).data;
    await expect.poll(() => page.evaluate('document.querySelector("video")?.currentTime')).toBe(2);
    await expect.poll(signedNow).not.toBe(url);
    await page.route(url, (route) => route.fulfill({ status: 403 }));
    const expired = page.waitForResponse(url);
    await page.getByRole('button', { name: 'Play the original' }).click();
    await expired;
    const shown = () =>
      page.evaluate('(({ src, currentTime }) => [src, currentTime])(document.querySelector("video"))');
    await expect.poll(shown).toEqual([expect.stringContaining(url.split('?')[0]), 2]);
    await page.getByText('Play the proxy').waitFor();
    expect(visit.takeConsoleErrors(/403/)).toEqual([]);
  });

  test('the timeline of a video shows the picture under the pointer, without a copy of the original', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${ids.film}`);
    await expect.poll(() => page.evaluate("document.querySelector('video').readyState > 1")).toBe(true);
    const box = await page.getByRole('slider', { name: 'Position' }).boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + 2);
    await page.locator('[data-frame="7"], [data-frame="8"]').waitFor();
    await page.getByText('0:02.', { exact: false }).first().waitFor();
    await shoot(page, 'scrubbing');
    await expect.poll(() => page.getByRole('button', { name: 'Play the original' }).count()).toBe(0);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test.each(VARIANTS)('a sound shows its waveform, plays and seeks by keys: %o', async (options) => {
    await using visit = await fixture().visit(options);
    const { page } = visit;
    await visit.open(`/files/${ids.sound}`);
    await page.locator('[data-peaks="200"]').waitFor();
    await page.getByText('0:00.000 / 0:01.000').waitFor();
    await page.getByRole('definition').getByText('PCM, mono').waitFor();
    await page.getByRole('slider', { name: 'Position' }).focus();
    await page.keyboard.press('End');
    await page.getByText('0:01.000 / 0:01.000').waitFor();
    await visit.expectAccessible('a sound');
    await shoot(page, `sound-${options.dark ? 'dark-phone' : 'light'}`);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('an SVG is shown as an image: its scripts do not run', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${ids.svg}`);
    await drawn(page, 'main img');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    await expect.poll(() => page.locator('main rect, main object, main iframe, main embed').count()).toBe(0);
    await shoot(page, 'svg');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a preview arrives by itself; a failed one says why and can be rebuilt by those who may', async () => {
    const { service } = fixture();
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.openLive(`/files/${ids.poster}`);
    await page.getByText('are being made. They appear here by themselves.').waitFor();
    await visit.expectAccessible('a pending preview');
    await shoot(page, 'pending');
    await setMedia(service, ids.poster, {
      kind: 'IMAGE',
      facts: { width: 1024, height: 1024, placeholder: PLACEHOLDER },
      thumbnail: ids.poster,
    });
    await page.getByRole('definition').getByText('1024 × 1024').waitFor();
    await expect.poll(() => page.getByText('are being made').count()).toBe(0);

    await visit.open(`/files/${ids.damaged}`);
    await page.getByRole('note').getByText('The image ends before its first pixel.').waitFor();
    await page.getByText('This browser cannot show this image').waitFor();
    await visit.expectAccessible('a failed preview');
    await shoot(page, 'failed');
    visit.takeRequests();
    await page.getByRole('button', { name: 'Rebuild' }).click();
    await expect.poll(() => visit.takeRequests()).toContain(`POST /api/files/${ids.damaged}/media.rebuild`);

    await using reviewer = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
    await reviewer.open(`/files/${ids.damaged}`);
    const refused = reviewer.page.getByRole('button', { name: 'Rebuild' });
    await expect.poll(() => refused.getAttribute('aria-disabled')).toBe('true');
    await refused.focus();
    await reviewer.page.getByText(/^Only owners, managers and members of the project can do this/).waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
