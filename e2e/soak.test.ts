import { expect, test } from 'vitest';
import { findGrowth, HEADINGS, quantile, rowOf, type Sample } from '../scripts/soak-report.ts';

const sample = (own: Partial<Sample>): Sample => ({
  process: 'server-0',
  rssBytes: 200 * 2 ** 20,
  handles: 40,
  milliseconds: [],
  ...own,
});
const soakOf = (sampleAt: (minute: number) => Partial<Sample>) =>
  Array.from({ length: 20 }, (_, minute) => [sample(sampleAt(minute)), sample({ process: 'worker-0' })]);

test('memory that rises during the start and handles that vary are steady', () => {
  expect(findGrowth(soakOf((minute) => ({ rssBytes: minute < 2 ? 1 : 200, handles: 40 + (minute % 3) })))).toEqual([]);
});

test('memory that falls with a collection and rises to the same peak is steady', () => {
  const peaks = [250, 255, 140, 150, 160, 180, 200, 230, 240, 250];
  expect(findGrowth(soakOf((minute) => ({ rssBytes: peaks[Math.floor(minute / 2)] ?? 0 })))).toEqual([]);
});

test('memory and handles that keep growing are found, with the process', () => {
  expect(findGrowth(soakOf((minute) => ({ rssBytes: 100 + 5 * minute, handles: 40 + minute })))).toEqual([
    'server-0: memory grew to 1.30 times the first half',
    'server-0: handles grew to 1.18 times the first half',
  ]);
});

test('a row has the quantiles of the requests; a worker has none', () => {
  const milliseconds = Array.from({ length: 100 }, (_, index) => index + 1);
  expect([quantile(milliseconds, 0.5), quantile(milliseconds, 0.99), quantile([], 0.5)]).toEqual([51, 100, 0]);
  expect(rowOf(sample({ milliseconds })).trim().split(/\s+/)).toEqual([
    'server-0',
    '200',
    '40',
    '100',
    '51.0',
    '100.0',
  ]);
  expect(
    rowOf(sample({ process: 'worker-0' }))
      .trim()
      .split(/\s+/),
  ).toEqual(['worker-0', '200', '40', '-', '-', '-']);
  expect(HEADINGS).toHaveLength(rowOf(sample({})).length);
});
