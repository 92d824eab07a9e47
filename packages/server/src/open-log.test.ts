import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

test.each([
  ['exits', 'process.exit(3)', 3],
  ['ends', '', 0],
  ['throws', 'throw new Error("fault")', 1],
])('no line is lost when the process %s', (_, end, code) => {
  const program = `
    const { openLog } = await import(${JSON.stringify(new URL('open-log.ts', import.meta.url).href)});
    openLog('info').info('last words');
    ${end}`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect(JSON.parse(stdout).msg).toBe('last words');
  expect(status).toBe(code);
});
