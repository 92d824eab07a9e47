import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeDirectory } from './remove-directory.ts';

/** Writes a file every millisecond, for a second or until its directory is gone. */
const WRITER = `
  const { writeFileSync } = require('node:fs');
  const [folder] = process.argv.slice(1);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const until = performance.now() + 1000;
  for (let count = 0; performance.now() < until; count++) {
    writeFileSync(folder + '/new-' + count, '');
    if (count === 0) process.stdout.write('writing');
    Atomics.wait(pause, 0, 0, 1);
  }
`;

test('a directory is removed although a process still writes into it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'review-removed-'));
  const output = join(folder, 'output');
  await mkdir(output);
  // To unlink these takes longer than the writer needs for the next file.
  for (let count = 0; count < 2000; count++) await writeFile(join(output, `old-${count}`), '');
  const writer = spawn(process.execPath, ['-e', WRITER, output], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void writer.kill('SIGKILL'));
  await once(writer.stdout, 'data');
  await removeDirectory(folder);
  expect(existsSync(folder)).toBe(false);
});

test('a directory that does not exist is no error', async () => {
  await expect(removeDirectory(join(tmpdir(), 'review-never-made'))).resolves.toBeUndefined();
});
