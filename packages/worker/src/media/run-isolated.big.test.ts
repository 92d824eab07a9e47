import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { DecodeError, runIsolated } from './run-isolated.ts';

const Seen = z.object({ pid: z.number(), started: z.number(), settings: z.array(z.string()) });
const LIMITS = { milliseconds: 60_000, memoryMegabytes: 1024, outputBytes: 1024 };

/** Runs a program that starts another, and waits until both run. */
async function runEndless(words: string[], limits = LIMITS) {
  const folder = await mkdtemp(join(tmpdir(), 'apart-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'seen.json');
  const stop = new AbortController();
  const running = runIsolated({ program: 'test/endless', words: [path, ...words], limits, signal: stop.signal });
  const ended = running.catch((error: unknown) => error);
  const seen = await vi.waitFor(async () => Seen.parse(JSON.parse(await readFile(path, 'utf8'))), 10_000);
  return { stop, ended, seen };
}

const expectEnd = (pids: number[]) =>
  vi.waitFor(() => {
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  }, 10_000);

test('the signal kills a busy program and those that it has started, without environment variables of the worker', async () => {
  const { stop, ended, seen } = await runEndless([]);
  expect(seen.settings).toEqual([]);
  stop.abort(new Error('canceled'));
  expect(await ended).toEqual(new Error('canceled'));
  await expectEnd([seen.pid, seen.started]);
});

test('the memory of a program that it has started counts', async () => {
  const { ended, seen } = await runEndless(['600'], { ...LIMITS, memoryMegabytes: 500 });
  const message = 'takes more than 500 MB of memory to read';
  expect(await ended).toMatchObject({ name: 'DecodeError', message, isLimit: true });
  await expectEnd([seen.pid, seen.started]);
});

test.each([
  ['exit', new DecodeError('crashes the decoder')],
  ['abort', new DecodeError('crashes the decoder')],
  ['heap', new DecodeError('takes more than 256 MB of memory to read', { isLimit: true })],
  ['signal', new Error('test/crash was ended by SIGTERM: ')],
])('the end of a program by %s is told from others', async (how, expected) => {
  const job = { program: 'test/crash', words: [how], limits: LIMITS, signal: new AbortController().signal };
  const error = await runIsolated(job).catch((error: unknown) => error);
  expect(error).toMatchObject({ name: expected.name, message: expected.message });
  if (expected instanceof DecodeError) expect(error).toMatchObject({ isLimit: expected.isLimit });
});
