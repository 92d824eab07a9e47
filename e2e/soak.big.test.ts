import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readOutput } from './processes.ts';

const drill = resolve(import.meta.dirname, '../scripts/drill.ts');

test('a short soak prints every process, fails no call and ends with 0', async () => {
  const report = await readOutput(process.execPath, [drill, '--soak', '0.2']);
  expect(report.match(/^soak: [\d.]+ of 0\.2 minutes$/gm)).toHaveLength(10);
  for (const name of ['server-0', 'server-1', 'worker-0', 'worker-1']) {
    expect(report.match(new RegExp(`^${name} +[1-9]\\d* +[1-9]\\d* `, 'gm'))).toHaveLength(10);
  }
  expect(report).not.toContain('failed');
}, 120_000);

test('a time that is out of range is refused with the range', async () => {
  const refused = readOutput(process.execPath, [drill, '--soak', '241']);
  await expect(refused).rejects.toThrow('--soak must be a number from 0.1 to 240');
}, 60_000);
