import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs, { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openLog } from './open-log.ts';
import { eventually } from './test/eventually.ts';

function openFileLog() {
  const path = join(mkdtempSync(join(tmpdir(), 'log-')), 'log');
  const log = openLog('info', openSync(path, 'a'));
  const messages = () =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).msg);
  return { log, messages };
}

test('lines are written together soon after they were logged', async () => {
  const { log, messages } = openFileLog();
  log.debug('below the level');
  log.info('one');
  log.info('two');
  expect(messages()).toEqual([]);
  await eventually(async () => messages().length === 2, 'the lines are written');
  expect(messages()).toEqual(['one', 'two']);
});

test.each(['warn', 'error', 'fatal'] as const)(
  'a line of level %s is written at once, with those before it',
  (level) => {
    const { log, messages } = openFileLog();
    log.info('before');
    log.child({ part: 1 })[level]('failed');
    expect(messages()).toEqual(['before', 'failed']);
  },
);

test('many lines do not wait', () => {
  const { log, messages } = openFileLog();
  for (let line = 0; line < 100; line++) log.info('a line of a certain length');
  expect(messages().length).toBeGreaterThan(50);
});

const START = `
  const { openLog } = await import(${JSON.stringify(new URL('open-log.ts', import.meta.url).href)});
  const log = openLog('info');`;
const argumentsOf = (program: string) => ['--input-type=module', '--eval', START + program];

test.each([
  ['exits', 'process.exit(3)', 3],
  ['ends', '', 0],
  ['throws', 'throw new Error("fault")', 1],
])('no line is lost when the process %s', (_, end, code) => {
  const { stdout, status } = spawnSync(process.execPath, argumentsOf(`log.info('last words'); ${end}`), {
    encoding: 'utf8',
  });
  expect(JSON.parse(stdout).msg).toBe('last words');
  expect(status).toBe(code);
});

const LOG_ALL = `
  log.error('at once');
  for (let line = 0; line < 100; line++) log.info('a line of a certain length');
  log.info('at the end');`;

test('a process works on when nothing reads its log any longer', async () => {
  const logAtTheEndOfInput = `process.stdin.on('data', () => {}).on('end', () => {${LOG_ALL}});`;
  const child = spawn(process.execPath, argumentsOf(logAtTheEndOfInput), {
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: 10_000,
  });
  const exited = once(child, 'exit');
  child.stdout.destroy();
  await once(child.stdout, 'close');
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
});

test('a process works on while the disk of its log is full', () => {
  const { status, signal } = spawnSync(process.execPath, argumentsOf(LOG_ALL), {
    stdio: ['ignore', openSync('/dev/full', 'w'), 'ignore'],
    timeout: 10_000,
  });
  expect([status, signal]).toEqual([0, null]);
});

test('the log goes on when a disk that was full has space again, with the lines that waited', () => {
  const { log, messages } = openFileLog();
  const full = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
  for (const length of [10_000, 1000, 100, 1]) {
    for (let line = 0; line < 200; line++) log.error('x'.repeat(length));
  }
  full.mockRestore();
  log.error('dropped');
  log.error('after');
  expect(messages().at(-1)).toBe('after');
  expect(messages().length).toBeGreaterThan(100);
});
