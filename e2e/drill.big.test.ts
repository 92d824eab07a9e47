import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readOutput } from './processes.ts';
import { PROXIES } from './proxies.ts';
import { lacksTemporal } from './temporal-server.ts';

const drill = resolve(import.meta.dirname, '../scripts/drill.ts');

test.skipIf(PROXIES.length === 0 || lacksTemporal())(
  'a short drill kills a server, a worker, Postgres and Temporal, loses nothing and ends with 0',
  async () => {
    const report = await readOutput(process.execPath, [drill, '--minutes', '1', '--only', 'killed']);
    expect(report.match(/^.*killed.*:$/gm)).toHaveLength(5);
    expect(report).toMatch(/^drill: \d{3,} requests, [1-9]\d* comments, [1-9]\d* uploads, [1-9]\d* generations ack/m);
    expect(report).toContain('drill: 0 lost, 0 wrong, 0 twice, 0 stuck, 0 orphans\n');
    expect(report).toContain('drill: events of comments: 0 missed, 0 repeated or out of order\n');
    expect(report).toContain('drill: webhook: 0 undelivered, 0 with a wrong signature,');
  },
  600_000,
);

test('a fault that does not exist is refused with their names', async () => {
  const refused = readOutput(process.execPath, [drill, '--only', 'flooded']);
  await expect(refused).rejects.toThrow(/--only must be part of one of: no fault, server killed, /);
}, 60_000);

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
