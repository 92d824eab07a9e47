import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { DecodeError, runIsolated } from './run-isolated.ts';

const Seen = z.object({ pid: z.number(), settings: z.array(z.string()) });
const LIMITS = { milliseconds: 60_000, memoryMegabytes: 1024, outputBytes: 1024 };

test('the signal kills a busy program, which has no environment variables of the worker', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'apart-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'seen.json');
  const stop = new AbortController();
  const running = runIsolated({ program: 'test/endless', words: [path], limits: LIMITS, signal: stop.signal });
  const ended = running.catch((error: unknown) => error);
  const seen = await vi.waitFor(async () => Seen.parse(JSON.parse(await readFile(path, 'utf8'))), 10_000);
  expect(seen.settings).toEqual([]);
  stop.abort(new Error('canceled'));
  expect(await ended).toEqual(new Error('canceled'));
  await vi.waitFor(() => expect(() => process.kill(seen.pid, 0)).toThrow('ESRCH'), 10_000);
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
