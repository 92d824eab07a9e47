import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readOutput } from './processes.ts';

const benchmark = resolve(import.meta.dirname, '../packages/server/benchmark/main.ts');

test('the benchmark measures every row on both databases', { timeout: 300_000 }, async () => {
  const report = await readOutput(process.execPath, [benchmark, '--quick', '--rows', '2000']);
  const lineOf = (start: string) => report.split('\n').filter((line) => line.startsWith(`| ${start} `));
  for (const row of ['list 50 comments', 'get comment']) expect(lineOf(row), row).toHaveLength(4);
  for (const row of ['create comment', 'get file', 'list versions', 'ping']) expect(lineOf(row), row).toHaveLength(2);
  for (const row of ['upload', 'download', 'jobs/s, one worker', 'statements per job', 'ready, s'])
    expect(lineOf(row), row).toHaveLength(1);
  expect(report).not.toMatch(/NaN|Infinity|undefined/);
});
