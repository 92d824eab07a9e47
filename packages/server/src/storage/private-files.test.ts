import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { reviewProcess } from '../test/review.ts';
import { becomesReady, startServer } from '../test/server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'review-private-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The directory and paths under it with permissions for group or others. */
const looseIn = (directory: string) =>
  ['.', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })].filter(
    (name) => (statSync(join(directory, name)).mode & 0o077) !== 0,
  );

test('the server creates DATA_DIR and its content with permissions for the owner only', async () => {
  const dataDirectory = join(folder, 'fresh');
  await using server = await startServer({ DATA_DIR: dataDirectory });
  // Makes the storage create its directories.
  await becomesReady(server);
  expect(readdirSync(dataDirectory)).toEqual(expect.arrayContaining(['files', 'review.db', 'secret-key']));
  expect(readdirSync(join(dataDirectory, 'files'))).toContain('objects');
  expect(looseIn(dataDirectory)).toEqual([]);
});

test('the review command does too', async () => {
  const dataDirectory = join(folder, 'by-command');
  expect((await reviewProcess({ DATA_DIR: dataDirectory }, 'migrate')).code).toBe(0);
  expect(readdirSync(dataDirectory)).toContain('review.db');
  expect(looseIn(dataDirectory)).toEqual([]);
});

test('a start restricts permissions of an earlier release, and reports a DATA_DIR that others can list', async () => {
  const dataDirectory = join(folder, 'earlier');
  const settings = { DATA_DIR: dataDirectory };
  {
    await using first = await startServer(settings);
    await becomesReady(first);
  }
  writeFileSync(join(dataDirectory, 'note-of-the-operator'), 'left alone');
  for (const name of ['files/objects', 'note-of-the-operator', '.']) chmodSync(join(dataDirectory, name), 0o755);
  for (const name of readdirSync(dataDirectory).filter((entry) => entry.startsWith('review.db'))) {
    chmodSync(join(dataDirectory, name), 0o644);
  }
  await using server = await startServer(settings);
  expect(looseIn(dataDirectory).toSorted()).toEqual(['.', 'note-of-the-operator']);
  server.process.kill('SIGTERM');
  expect((await server.finished).output).toContain('run chmod 700 on it');
});
