import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { inConsole } from './console-fixture.ts';
import { OBSERVE_TASKS } from './long-tasks.ts';

/** A slow 3G network, as Chromium's own preset. */
const SLOW_3G = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/** What the page has loaded until now: the sizes as sent, with headers, of the page itself and of all that it needed. */
const LOADED = `(() => {
  const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  const bytes = (list) => list.reduce((sum, { transferSize }) => sum + transferSize, 0);
  return {
    ms: Math.round(performance.now()),
    requests: entries.length,
    bytes: bytes(entries),
    scripts: bytes(entries.filter(({ name }) => name.endsWith('.js'))),
    longestTaskMs: Math.round(Math.max(0, ...window.tasks)),
  };
})()`;

interface Loaded {
  ms: number;
  requests: number;
  bytes: number;
  scripts: number;
  longestTaskMs: number;
}

inConsole('the console over slow 3G', (fixture) => {
  async function slowly(page: Page): Promise<void> {
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', SLOW_3G);
    await page.addInitScript({ content: OBSERVE_TASKS });
    page.setDefaultTimeout(100_000);
  }

  test('the first list takes few bytes and requests', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await slowly(page);
    await visit.open('/projects');
    await page.getByRole('link', { name: 'Spring campaign' }).first().waitFor();
    const loaded = await page.evaluate<Loaded>(LOADED);
    console.log('until the first list', loaded);
    expect(loaded.scripts).toBeLessThan(200_000);
    expect(loaded.bytes).toBeLessThan(300_000);
    expect(loaded.requests).toBeLessThan(40);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('a video plays after few bytes and requests', async () => {
    const { service } = fixture();
    const configs = { resolution: '480p', durationSeconds: 4 };
    const id = await service.generate('seedance-2.0', 'A slow pan', { configs });
    await service.waitForEnd(id);
    // Until the frame rate is known, the console would load the code that computes it.
    await expect
      .poll(async () => (await service.client.files.get({ params: { id } })).data.media?.frameRate, { timeout: 90_000 })
      .toMatchObject({ numerator: expect.any(Number) });
    await using visit = await fixture().visit();
    const { page } = visit;
    await slowly(page);
    await visit.open(`/files/${id}`);
    await page.locator('video').waitFor();
    await page.evaluate('document.querySelector("video").play()');
    await expect
      .poll(() => page.evaluate('document.querySelector("video").currentTime > 0.1'), { timeout: 100_000 })
      .toBe(true);
    const loaded = await page.evaluate<Loaded>(LOADED);
    console.log('until a video plays', loaded);
    // With the headers of every request.
    expect(loaded.scripts).toBeLessThan(320_000);
    expect(loaded.requests).toBeLessThan(120);
  });
});
