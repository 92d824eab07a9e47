import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';

test('a busy program and those that it has started end after its worker was killed', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orphan-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'seen.json');
  const worker = spawn(process.execPath, [new URL('./test/orphan-parent.ts', import.meta.url).pathname, path]);
  const read = async () =>
    z.object({ pid: z.number(), started: z.number() }).parse(JSON.parse(await readFile(path, 'utf8')));
  const { pid, started } = await vi.waitFor(read, 60_000);
  expect(process.kill(pid, 0)).toBe(true);
  worker.kill('SIGKILL');
  await vi.waitFor(() => {
    for (const each of [pid, started]) expect(() => process.kill(each, 0)).toThrow('ESRCH');
  }, 60_000);
});
