import { upload } from '@review/client';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { newId } from '../packages/server/src/db/ids.ts';
import { inConsole } from './console-fixture.ts';
import { OBSERVE_TASKS, takeLongestTask } from './long-tasks.ts';
import type { Visit } from './visit.ts';

const COUNT = 1000;
const PAGE = 50;
/** So many are loaded where more would only take longer. */
const SHOWN = 200;
const TICKS = 10;
const MAX_ELEMENTS = 3000;
const MAX_HEAP_MB = 60;

/** Clicks a box and resolves once the page has painted the change. */
const TICK = (name: string) => `new Promise((resolve) => {
  const box = document.querySelector('input[aria-label="Choose ${name}"]');
  const start = performance.now();
  box.click();
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
})`;

/** The height of the view over the list that no item covers, or that two rows cover, beyond a gap of the grid. */
const UNCOVERED = `(() => {
  const list = document.querySelector('main ul:has(> [aria-posinset])').getBoundingClientRect();
  const rows = [...document.querySelectorAll('main [aria-posinset]')]
    .map((item) => item.getBoundingClientRect())
    .filter(({ bottom, top }) => bottom > 0 && top < innerHeight)
    .sort((a, b) => a.top - b.top);
  let reached = Math.max(0, list.top);
  let wrong = 0;
  for (const { top, bottom } of rows) {
    if (top > reached + 17) wrong += top - reached;
    reached = Math.max(reached, bottom);
  }
  return wrong + Math.max(0, Math.min(innerHeight, list.bottom) - reached - 17);
})()`;

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function measure(page: Page, names: readonly string[]) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await page.evaluate(OBSERVE_TASKS);
  const ticks: number[] = [];
  for (const name of names) ticks.push(await page.evaluate<number>(TICK(name)));
  return {
    elements: await page.evaluate<number>('document.querySelectorAll("*").length'),
    heapMB: Math.round(usedSize / 1e5) / 10,
    tickMs: Math.round(median(ticks)),
    longestTaskMs: await takeLongestTask(page),
  };
}

inConsole('a folder with 1,000 files', (fixture) => {
  const nameOf = (number: number) => `take ${String(number).padStart(4, '0')}.txt`;

  async function fill(): Promise<string> {
    const { client, database } = fixture().service;
    const projectId = await fixture().newProject('A thousand takes');
    const source = new TextEncoder().encode('A take');
    const { id } = await upload(client, { to: { project: projectId }, source, name: nameOf(1) });
    const { folded_name, ...first } = await database.db
      .selectFrom('files')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    for (let start = 2; start <= COUNT; start += 100) {
      const rows = Array.from({ length: Math.min(100, COUNT - start + 1) }, (_, index) => ({
        ...first,
        id: newId('FX'),
        name: nameOf(start + index),
        folded_text: first.folded_text.replaceAll(nameOf(1), nameOf(start + index)),
      }));
      await database.db.insertInto('files').values(rows).execute();
    }
    return projectId;
  }

  /** Opens the files, with so many of them loaded. */
  async function open(visit: Visit, view: string, count: number): Promise<void> {
    const { page } = visit;
    await visit.open(`/projects/${projectId}?order=name&view=${view}`);
    const item = page
      .getByRole('list', { name: /^(Folders and files|Files)$/ })
      .getByRole('listitem')
      .first();
    for (let loaded = PAGE; loaded < count; loaded += PAGE) {
      await page.getByRole('button', { name: 'Show more files' }).click();
      await expect.poll(() => item.getAttribute('aria-setsize')).toBe(String(loaded + PAGE));
    }
    await page.evaluate('scrollTo(0, 0)');
    await visit.settled();
  }

  let projectId: string;
  beforeAll(async () => {
    projectId = await fill();
  });
  /** Scrolls to the middle until it shows the element: the height of a row is an estimate until it is drawn. */
  const scrollToMiddle = (page: Page, shown: Locator) =>
    expect
      .poll(async () => {
        await page.evaluate('scrollTo(0, (document.body.scrollHeight - innerHeight) / 2)');
        return shown.isVisible();
      })
      .toBe(true);
  const box = (page: Page, number: number) =>
    page.getByRole('checkbox', { name: `Choose ${nameOf(number)}`, exact: true });

  test.each(['list', 'grid'])('has few elements as a %s, and a click on a box renders little', async (view) => {
    await using visit = await fixture().visit();
    await open(visit, view, COUNT);
    await box(visit.page, 1).waitFor();
    const names = Array.from({ length: TICKS }, (_, index) => nameOf(index + 1));
    const figures = await measure(visit.page, names);
    console.log(`1,000 files as a ${view}`, figures);
    expect(figures.elements).toBeLessThan(MAX_ELEMENTS);
    expect(figures.heapMB).toBeLessThan(MAX_HEAP_MB);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test.each([
    ['list', {}],
    ['grid', {}],
    ['list', { phone: true }],
    ['grid', { phone: true, dark: true }],
  ] as const)('is chosen, reached by keyboard and announced as a whole: %s %o', async (view, options) => {
    await using visit = await fixture().visit(options);
    const { page } = visit;
    await open(visit, view, SHOWN);
    const rows = page.getByRole('list', { name: /^(Folders and files|Files)$/ }).getByRole('listitem');
    await box(page, 2).click();
    await page.getByText('1 chosen').waitFor();

    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await box(page, SHOWN).waitFor();
    const last = rows.last();
    expect(await last.getAttribute('aria-posinset')).toBe(String(SHOWN));
    expect(await last.getAttribute('aria-setsize')).toBe(String(SHOWN));
    await visit.expectAccessible('the end of a long list');

    // The box that has the focus is far above, and Tab still leads to what follows it.
    const focused = 'document.activeElement.closest("li").ariaPosInSet';
    expect(await page.evaluate(focused)).toBe('2');
    for (let stops = 0; stops < 12 && (await page.evaluate(focused)) === '2'; stops++) await page.keyboard.press('Tab');
    expect(await page.evaluate(focused)).toBe('3');
    await page.keyboard.press('Space');
    await expect.poll(() => box(page, 3).isChecked()).toBe(true);
    await box(page, 4).waitFor();

    await scrollToMiddle(page, box(page, SHOWN / 2));
    await box(page, SHOWN / 2).click({ modifiers: ['Shift'] });
    await page.getByText(`${SHOWN / 2 - 1} chosen`).waitFor();
    await page.getByRole('button', { name: 'Choose all' }).click();
    await page.getByText(`${SHOWN} chosen`).waitFor();
    await page.getByRole('button', { name: 'Choose none' }).click();

    // Rows neither overlap nor leave gaps, wherever the page was scrolled to.
    for (const share of [0, 0.3, 1, 0.6]) {
      await page.evaluate(`scrollTo(0, (document.body.scrollHeight - innerHeight) * ${share})`);
      await expect.poll(() => page.evaluate<number>(UNCOVERED)).toBe(0);
    }
    expect(await rows.count()).toBeLessThan(120);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('keeps the place when one comes back from a file', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await open(visit, 'list', SHOWN);
    const file = page.getByRole('link', { name: nameOf(SHOWN / 2), exact: true });
    await scrollToMiddle(page, file);
    await file.scrollIntoViewIfNeeded();
    const before = await file.boundingBox();
    await file.click();
    await page.getByRole('heading', { level: 1, name: nameOf(SHOWN / 2) }).waitFor();
    await page.goBack();
    await expect.poll(async () => Math.abs(((await file.boundingBox())?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(40);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });

  test('keeps an open dialog of a row that left the view', async () => {
    await using visit = await fixture().visit();
    const { page } = visit;
    await open(visit, 'list', SHOWN);
    await page.getByRole('button', { name: `Actions for ${nameOf(1)}` }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('opening.txt');
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect
      .poll(
        async () =>
          (await fixture().service.client.files.list({ params: { id: projectId }, body: { keyword: 'opening' } })).data,
      )
      .toMatchObject([{ name: 'opening.txt' }]);
    expect(visit.takeConsoleErrors()).toEqual([]);
  });
});
