import { expect, test } from 'vitest';
import { newUuid } from '../packages/server/src/db/ids.ts';
import { inConsole } from './console-fixture.ts';
import { OBSERVE_TASKS, takeLongestTask } from './long-tasks.ts';
import { until } from './processes.ts';

const COUNT = 5000;
const MAX_SCRIPT_BYTES = 300_000;
const MAX_HEAP_BYTES = 120_000_000;

inConsole('a file with 5,000 comments in the console', (fixture) => {
  test('needs few requests, little memory and few elements; a playing video needs under 300 kB of JavaScript', {
    timeout: 300_000,
  }, async () => {
    const { service } = fixture();
    const configs = { resolution: '480p', durationSeconds: 4 };
    const id = await service.generate('seedance-2.0', 'A slow pan', { configs });
    await service.waitForEnd(id);
    await expect
      .poll(async () => (await service.client.files.get({ params: { id } })).data.media?.frameRate, { timeout: 60_000 })
      .toMatchObject({ numerator: expect.any(Number) });
    const { data } = await service.client.comments.createOnFile({
      params: { id },
      body: { content: 'First.', anchor: 0 },
    });
    const { db } = service.database;
    const first = await db.selectFrom('comments').selectAll().where('id', '=', data.id).executeTakeFirstOrThrow();
    for (let start = 1; start < COUNT; start += 500) {
      const rows = Array.from({ length: Math.min(500, COUNT - start) }, (_, index) => {
        const number = start + index;
        const { updated_at, created_at, ...rest } = first;
        return {
          ...rest,
          id: newUuid(),
          content: `Remark ${number}.`,
          anchor: (number * 4000) / COUNT,
          created_at,
          updated_at,
        };
      });
      await db
        .insertInto('comments')
        .values(rows.map((row) => ({ ...row, anchor: Math.floor(row.anchor) })))
        .execute();
    }

    await using visit = await fixture().visit();
    const { page } = visit;
    await page.addInitScript({ content: OBSERVE_TASKS });
    await visit.open(`/files/${id}`);
    await page.getByText('Remark 1.', { exact: true }).waitFor();
    await page.locator('video').waitFor();
    await page.evaluate('document.querySelector("video").play()');
    await expect.poll(() => page.evaluate('document.querySelector("video").currentTime > 0.3')).toBe(true);
    await page.keyboard.press('k');
    await visit.settled();
    const scripts = await page.evaluate<number>(
      `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    );
    const heap = async () => {
      const session = await page.context().newCDPSession(page);
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      return usedSize;
    };
    const asked = visit.takeRequests().filter((request) => request.includes('/comments'));
    const marks = await page.locator('button[data-many]').count();
    const figures = {
      scripts,
      heap: await heap(),
      requests: asked.length,
      marks,
      articles: await page.getByRole('article').count(),
    };
    const longestTaskMs = { opening: await takeLongestTask(page), scrolling: 0, selecting: 0, writing: 0 };
    expect(scripts).toBeLessThan(MAX_SCRIPT_BYTES);
    expect(figures.heap).toBeLessThan(MAX_HEAP_BYTES);
    expect(figures.requests).toBeLessThan(12);
    expect(marks).toBeGreaterThan(10);
    expect(marks).toBeLessThan(100);
    expect(figures.articles).toBeLessThan(40);

    const list = page.getByRole('group', { name: 'List of comments' });
    /** Scrolls to an end of what is loaded, which loads more, until the remark is shown. */
    const scrollTo = (end: 'top' | 'bottom', remark: RegExp) =>
      until(
        `${remark} is shown`,
        async () => {
          await list.evaluate((element, end) => element.scrollTo(0, end === 'top' ? 0 : element.scrollHeight), end);
          await visit.settled();
          return page.getByText(remark).first().isVisible();
        },
        60_000,
      );
    await scrollTo('bottom', /^Remark [6-9]\d\d\.$/);
    await expect.poll(() => page.getByRole('article').count()).toBeLessThan(40);
    expect(await heap()).toBeLessThan(MAX_HEAP_BYTES);
    await scrollTo('top', /^Remark 1\.$/);
    longestTaskMs.scrolling = await takeLongestTask(page);

    await page.locator('button[data-many]').last().click();
    await page.locator('article[data-selected]').waitFor();
    await visit.settled();
    longestTaskMs.selecting = await takeLongestTask(page);

    const field = page.getByRole('textbox', { name: 'Comment', exact: true });
    await field.pressSequentially('The last remark of all.');
    const posted = page.waitForResponse((response) => response.request().method() === 'POST' && response.ok());
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await posted;
    await visit.settled();
    longestTaskMs.writing = await takeLongestTask(page);
    console.log('a file with 5,000 comments', { ...figures, longestTaskMs });
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
