import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { review, reviewJson, reviewProcess } from '../test/review.ts';

const UNKNOWN_ID = '0195c2de-1234-7abc-8def-0123456789ab';

/** Each command is a process: running them concurrently halves the time. */
describe('on a database of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'review-commands-'));
  const settings = { DATA_DIR: folder };
  const database = `Database: sqlite:${join(folder, 'review.db')}\n`;
  let workspace = '';

  beforeAll(async () => {
    expect(await reviewJson(settings, 'migrate')).toEqual({ applied: expect.arrayContaining([expect.any(String)]) });
    workspace = (await reviewJson<{ id: string }>(settings, 'workspace', 'create', '--name', 'Studio')).id;
    await reviewJson(settings, 'user', 'create', '--workspace', workspace, '--email', 'a@example.com', '--name', 'A');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const user = (...words: string[]) => ['user', 'create', '--workspace', workspace, ...words];
  const key = (...words: string[]) => ['key', 'create', '--workspace', workspace, ...words];
  const mistakes: [string, () => string[], RegExp][] = [
    ['a command that does not exist', () => ['bogus'], /unknown command 'bogus'/],
    ['half a command', () => ['key'], /The command is missing/],
    ['a missing option', () => ['workspace', 'create'], /--name/],
    ['a bad e-mail', () => user('--email', 'not an address', '--name', 'A'), /--email/],
    [
      'an unknown workspace',
      () => ['user', 'create', '--workspace', UNKNOWN_ID, '--email', 'a@b.co', '--name', 'A'],
      /no workspace/,
    ],
    ['a workspace that is no id', () => ['key', 'list', '--workspace', 'Studio'], /no workspace Studio/],
    ['an unknown user', () => key('--user', 'x@example.com', '--scopes', 'all'), /--user/],
    [
      'a scope there is not',
      () => key('--user', 'a@example.com', '--scopes', 'files:read,files:fly'),
      /files:fly.*files:read/,
    ],
    [
      'an expiry on no calendar',
      () => key('--user', 'a@example.com', '--scopes', 'all', '--expires', '2099-02-30'),
      /--expires/,
    ],
    ['a key that does not exist', () => ['key', 'revoke', UNKNOWN_ID], /no key/],
  ];

  test.each(mistakes)('%s exits with 1 and a message, as one JSON value with --json', async (_, words, message) => {
    const { code, output, errors } = await review(settings, '--json', ...words());
    expect(code).toBe(1);
    expect(errors).toMatch(message);
    expect(errors).not.toMatch(/^\s+at /m);
    expect(JSON.parse(output)).toEqual({ error: expect.stringMatching(message) });
    expect(output.trimEnd()).not.toContain('\n');
  });

  test('without --json a mistake leaves standard output empty', async () => {
    expect(await reviewProcess(settings, 'key', 'revoke', UNKNOWN_ID)).toEqual({
      code: 1,
      output: '',
      errors: `${database}There is no key ${UNKNOWN_ID}.\n`,
    });
  });

  test.each([
    ['between', ['key', '--json', 'list']],
    ['last', ['key', 'list', '--json']],
  ])('--json is accepted %s', async (_, words) => {
    expect(await review(settings, ...words)).toEqual({ code: 0, output: '[]\n', errors: database });
  });

  test.each([[[]], [['user', 'create']], [['key']], [['key', 'create']]])(
    '%j --help prints help and exits with 0',
    async (words) => {
      const { code, output, errors } = await review(settings, ...words, '--help');
      expect([code, errors]).toEqual([0, '']);
      expect(output).toContain(`Usage: ${['review', ...words].join(' ')}`);
    },
  );

  test('without a database a command creates none and says what to do', async () => {
    const { code, output, errors } = await review({ DATA_DIR: join(folder, 'elsewhere') }, 'key', 'list', '--json');
    expect([code, errors]).toEqual([
      1,
      `There is no database at sqlite:${join(folder, 'elsewhere', 'review.db')}. Set DATABASE_URL (or name the server's settings with --env-file or REVIEW_ENV_FILE), or create one there with \`review migrate\`.\n`,
    ]);
    expect(JSON.parse(output)).toEqual({ error: errors.trimEnd() });
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
  });

  test('without a schema, a command says what to do', async () => {
    const path = join(folder, 'empty.db');
    writeFileSync(path, '');
    const { code, output, errors } = await review({ DATABASE_URL: `sqlite:${path}` }, 'key', 'list', '--json');
    const message =
      'The database has no schema yet, or that of an earlier release. Run `review migrate`, or start the server once.';
    expect([code, errors]).toEqual([1, `Database: sqlite:${path}\n${message}\n`]);
    expect(JSON.parse(output)).toEqual({ error: message });
  });

  test('in production a command on the data needs no secret, and makes none', async () => {
    const { code, output } = await review({ ...settings, NODE_ENV: 'production', PORT: 'x' }, 'key', 'list', '--json');
    expect([code, output]).toEqual([0, '[]\n']);
    expect(readdirSync(folder).filter((name) => /secret|token/.test(name))).toEqual([]);
  });

  test('the settings may be in a file, named by --env-file anywhere or by REVIEW_ENV_FILE', async () => {
    const file = join(folder, 'review.env');
    writeFileSync(file, `DATABASE_URL=sqlite:${join(folder, 'review.db')}\n`);
    const expected = { code: 0, output: '[]\n', errors: database };
    const elsewhere = { DATA_DIR: join(folder, 'elsewhere') };
    for (const words of [
      ['--env-file', file, 'key', 'list', '--json'],
      ['key', 'list', `--env-file=${file}`, '--json'],
    ]) {
      expect(await review(elsewhere, ...words)).toEqual(expected);
    }
    const named = { ...elsewhere, REVIEW_ENV_FILE: file };
    expect(await reviewProcess(named, 'key', 'list', '--json')).toEqual(expected);
    const missing = await review({ REVIEW_ENV_FILE: join(folder, 'none.env') }, 'key', 'list');
    expect([missing.code, missing.errors]).toEqual([1, expect.stringContaining(join(folder, 'none.env'))]);
  });
});

describe('on no database', () => {
  test('invalid settings are named', async () => {
    const { code, output, errors } = await review({ DATABASE_URL: 'mysql://x' }, 'key', 'list', '--json');
    expect(code).toBe(1);
    expect(errors).toContain('DATABASE_URL');
    expect(JSON.parse(output)).toEqual({ error: expect.stringContaining('DATABASE_URL') });
  });

  test('an unreachable database is an error message', async () => {
    const { code, errors } = await review({ DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x' }, 'key', 'list');
    expect(code).toBe(1);
    expect(errors).toMatch(/ECONNREFUSED/);
  });
});
