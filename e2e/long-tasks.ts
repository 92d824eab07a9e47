import type { Page } from 'playwright-core';

/** Notes every task of a page that takes longer than 50 ms. Runs in the page. */
export const OBSERVE_TASKS = `window.tasks = []; new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.tasks.push(duration);
}).observe({ type: 'longtask', buffered: true })`;

/** Returns the milliseconds of the longest task since the last call. */
export const takeLongestTask = async (page: Page): Promise<number> =>
  Math.round(await page.evaluate<number>('Math.max(0, ...window.tasks.splice(0))'));
