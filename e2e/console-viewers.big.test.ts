import { upload } from '@review/client';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { generateByHand, inConsole, REVIEWER } from './console-fixture.ts';
import { until } from './processes.ts';

const LONG = 'A lamp on a pier.\n'.repeat(120);

async function zoom(page: Page): Promise<void> {
  const width = async () => (await page.locator('main img').boundingBox())?.width ?? 0;
  const fitted = await width();
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await page.getByText('125 %').waitFor();
  await expect.poll(width).toBeCloseTo(fitted * 1.25);
  const stage = page.getByRole('group', { name: /^Picture/ });
  await stage.hover();
  await page.mouse.wheel(0, -400);
  await page.getByText('340 %').waitFor();
  await stage.focus();
  await page.keyboard.press('-');
  await page.getByText('272 %').waitFor();
  await page.keyboard.press('0');
  await expect.poll(width).toBeCloseTo(fitted);
}

async function turnPages(page: Page): Promise<void> {
  const drawn = () => page.locator('main canvas').getAttribute('data-drawn');
  await page.getByText(/^Page 1 of [2-9]/).waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Previous page' }).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText(/^Page 2 of/).waitFor();
  await expect.poll(drawn).toBe('2');
  await page.waitForURL(/at=2/);
  await page.getByRole('group', { name: /^Document/ }).focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(drawn).toBe('1');
}

async function orbit(page: Page): Promise<void> {
  const angle = () => page.evaluate<number>("document.querySelector('model-viewer').getCameraOrbit().theta");
  const before = await angle();
  await page.locator('model-viewer .userInput').focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(angle).not.toBe(before);
}

inConsole('the viewers of the console', (fixture) => {
  test.each([
    ['Image', 'GPT Image 2', 'A lamp', 'img', 'element.naturalWidth > 0', zoom],
    ['Document', 'PDF document', LONG, 'canvas', "element.dataset.drawn === '1'", turnPages],
    ['Document', 'Markdown document', 'A lamp', 'article h1', 'element.textContent.length > 3', null],
    ['Video', 'Seedance 2.0 Mini', 'A lamp', 'video', 'element.readyState > 2', null],
    ['3D', 'Meshy 7', 'A lamp', 'model-viewer', 'element.loaded', orbit],
  ])('%s by %s can be generated, viewed and controlled, also after a reload', async (...row) => {
    const [type, model, prompt, selector, isDrawn, steer] = row;
    // Software rendering of a scene is slow, so it is tested once in a small window.
    const isSlow = type === '3D';
    await using visit = await fixture().visit({ phone: isSlow });
    const { page } = visit;
    await visit.open('/generate');
    await generateByHand(page, type, model, prompt);
    await page.getByRole('link', { name: 'Open and review' }).click({ timeout: 60_000 });
    const drawn = `(() => { const element = document.querySelector('main ${selector}'); return !!element && ${isDrawn}; })()`;
    const look = async () => ({ drawn: await page.evaluate(drawn), errors: visit.takeConsoleErrors() });
    const expectDrawn = () => expect.poll(look, { timeout: 60_000 }).toEqual({ drawn: true, errors: [] });
    await page.getByRole('heading', { name: 'Details' }).waitFor();
    if (!isSlow) await expectDrawn();
    await page.reload();
    if (isSlow) await page.getByRole('button', { name: 'Show in 3D' }).click();
    await expectDrawn();
    await visit.expectAccessible(model);
    await steer?.(page);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('without a graphics card, a model is a picture until its scene is requested', async () => {
    const { service } = fixture();
    const id = await service.generate('meshy-7', 'A lamp');
    await service.waitForEnd(id);
    await until('its poster is made', async () => (await service.file(id)).thumbnailUrl);
    await using visit = await fixture().visit({ phone: true });
    const { page } = visit;
    await visit.open(`/files/${id}`);
    await page.getByRole('img', { name: /^Poster of/ }).waitFor();
    await visit.expectAccessible('a model without its scene');
    const isScene = () => page.evaluate("document.querySelector('model-viewer') !== null");
    expect(await isScene()).toBe(false);
    await page.keyboard.press('d');
    await expect.poll(isScene).toBe(true);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a video steps frame by frame, and a comment seeks to its time', async () => {
    const { client } = fixture().service;
    const id = await fixture().service.generate('seedance-2.0-mini');
    await fixture().service.waitForEnd(id);
    await client.comments.createOnFile({ params: { id }, body: { content: 'Too early', anchor: 2500 } });
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${id}`);
    await page.getByRole('button', { name: /at 2\.5 s: Too early$/ }).click();
    await page.getByText(/^00:00:02:12 .* frame 60$/).waitFor();
    await page.keyboard.press('.');
    await page.getByText('frame 61').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press(',');
    await page.getByText('frame 59').waitFor();
    await page.waitForURL(/at=24\d\d$/);
    await page.reload();
    await page.getByText('frame 59').waitFor();
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a video stays where it is when its URL is signed anew, and goes on with that when its own has expired', async () => {
    const id = await fixture().service.generate('seedance-2.0-mini');
    await fixture().service.waitForEnd(id);
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${id}?at=2500`);
    await page.getByText(/frame 60$/).waitFor();
    const shown = () =>
      page.evaluate<{ src: string; time: number }>(
        '(({ src, currentTime: time }) => ({ src, time }))(document.querySelector("video"))',
      );
    const first = await shown();
    const pass = (minutes: number) =>
      page.evaluate(`{ const now = Date.now; Date.now = () => now() + ${minutes} * 60_000 }`);
    const signedAnew = async () => {
      const answer = page.waitForResponse((response) => response.url().includes(`/${id}/download`));
      await pass(6);
      await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
      return (await (await answer).json()).data.url;
    };
    await expect.poll(signedAnew).not.toBe(first.src);
    await visit.settled();
    expect(await shown()).toEqual(first);
    await pass(60);
    await page.evaluate('document.querySelector("video").dispatchEvent(new Event("error"))');
    await expect.poll(async () => (await shown()).src).not.toBe(first.src);
    await expect.poll(async () => (await shown()).time).toBeCloseTo(first.time, 1);
    await page.getByText(/frame 60$/).waitFor();
  });

  test('a strip of the pages turns them, and its pictures are made when an editor looks at them', async () => {
    const { service } = fixture();
    const id = await service.generate('pdf', LONG);
    await service.waitForEnd(id);
    await until('its first page is shown', async () => (await service.file(id)).thumbnailUrl);
    await service.client.comments.createOnFile({ params: { id }, body: { content: 'A typo', anchor: 2 } });
    const stripOf = (page: Page) => page.getByRole('listbox', { name: 'Pages' });
    const secondOf = (page: Page) => stripOf(page).getByRole('option', { name: 'Page 2, 1 comment' });
    const isDrawn = (page: Page) =>
      page.evaluate("document.querySelectorAll('[role=option] img')[1]?.naturalWidth > 0");

    await using reviewer = await fixture().visit({ key: await fixture().keyOf(REVIEWER) });
    await reviewer.openLive(`/files/${id}`);
    await secondOf(reviewer.page).click();
    await reviewer.page.getByText(/^Page 2 of/).waitFor();
    expect(reviewer.takeRequests().filter((request) => request.endsWith('media.rebuild'))).toEqual([]);
    await expect.poll(() => stripOf(reviewer.page).locator('img').count()).toBe(1);

    await using owner = await fixture().visit();
    const { page } = owner;
    await owner.openLive(`/files/${id}`);
    await expect.poll(() => isDrawn(page), { timeout: 60_000 }).toBe(true);
    await expect.poll(() => isDrawn(reviewer.page)).toBe(true);
    await owner.settled();
    expect(owner.takeRequests().filter((request) => request.endsWith('media.rebuild'))).toHaveLength(1);
    const last = await stripOf(page).getByRole('option').count();
    await stripOf(page).focus();
    await page.keyboard.press('End');
    await page.getByText(`Page ${last} of ${last}`).waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await page.getByText(`Page ${last - 1} of ${last}`).waitFor();
    await page.keyboard.press('Home');
    await page.getByText(`Page 1 of ${last}`).waitFor();
    await expect.poll(() => stripOf(page).getByRole('option', { selected: true }).textContent()).toBe('1');
    await owner.expectAccessible('the strip of pages');
    expect([...owner.takeConsoleErrors(), ...reviewer.takeConsoleErrors()]).toEqual([]);
  });

  test('file content cannot run scripts', async () => {
    const { client, projectId } = fixture().service;
    const source = new Blob(['# Hello\n\n<img src=x onerror="document.title=1">\n\n[go](javascript:document.title=2)']);
    const { id } = await upload(client, {
      to: { project: projectId },
      source,
      name: 'hello.md',
      mimeType: 'text/markdown',
    });
    await using visit = await fixture().visit();
    const { page } = visit;
    await visit.open(`/files/${id}`);
    await page.getByRole('heading', { name: 'Hello', exact: true }).waitFor();
    await expect.poll(() => page.locator('article img').count()).toBe(0);
    await expect.poll(() => page.getByText('go', { exact: true }).getAttribute('href')).toBe('');
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
