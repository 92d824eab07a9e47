import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAMILIES } from '@review/contract';
import { ConfigError } from '@review/contract/settings';
import { afterAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../db/open.ts';
import { runProgram } from '../test/server-process.ts';
import { readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'review-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let folders = 0;
const freshFolder = () => join(folder, String(++folders), 'deep', 'data');
const read = (settings: Record<string, string> = {}) => readConfig({ DATA_DIR: freshFolder(), ...settings });

function faultsOf(settings: Record<string, string>): string {
  try {
    read(settings);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'nothing was refused';
}

const PRODUCTION = { NODE_ENV: 'production', SECRET_KEY: 's'.repeat(32), WORKER_TOKEN: 'w'.repeat(16) };

test('without a setting the server listens on this machine only, on SQLite, with limits', () => {
  expect(read({ DATA_DIR: '/tmp/review-defaults-of-config-test' })).toMatchObject({
    production: false,
    host: '127.0.0.1',
    port: 3000,
    publicUrl: 'http://localhost:3000',
    database: { dialect: 'sqlite', path: '/tmp/review-defaults-of-config-test/review.db' },
    rateLimits: { default: 60, 'tier-2': 20, 'tier-3': 50, 'tier-4': 100, 'failed-credentials': 30 },
    trustProxy: false,
    corsOrigins: [],
    bodyLimit: 1024 * 1024,
    logLevel: 'info',
    engine: 'embedded',
    generation: {
      slots: { DOCUMENT: 4, IMAGE: 4, VIDEO: 2, '3D': 2 },
      familyCaps: Object.fromEntries(FAMILIES.map((family) => [family, 10])),
      deadlines: { DOCUMENT: 300, IMAGE: 600, VIDEO: 7200, '3D': 3600 },
      queueLimit: 100,
      sandbox: true,
      temporalUiUrl: null,
    },
  });
  rmSync('/tmp/review-defaults-of-config-test', { recursive: true });
});

test.each([
  ['PORT', ['x', '-1', '65536', '3.5', '0x10', '1e3']],
  ['PUBLIC_URL', ['review.example.com', 'ftp://example.com', 'javascript:alert(1)', 'https://']],
  ['DATABASE_URL', ['mysql://x', 'postgres', 'sqlite:', '/var/db', 'postgres://[']],
  ['DATABASE_CONNECTIONS', ['0', '1001', 'many']],
  ['STORAGE_URL', ['file:', 's3://', 'https://x', '/var/files']],
  ['SECRET_KEY', ['short', 's'.repeat(31)]],
  ['SECRET_KEY_PREVIOUS', ['short', 's'.repeat(31)]],
  ['WORKER_TOKEN', ['short', 'w'.repeat(15)]],
  ['GENERATION_ENGINE', ['Temporal', 'none']],
  ['GENERATION_SLOTS', ['4', 'AUDIO=1', 'VIDEO=0', 'video=1', 'VIDEO=1;IMAGE=2']],
  ['FAMILY_CAPS', ['5', 'sora=1', 'veo=0', 'veo=-1', 'veo=many']],
  ['GENERATION_DEADLINES', ['60', 'VIDEO=2h', 'VIDEO=0']],
  ['GENERATION_QUEUE_LIMIT', ['0', '-1', 'off', '1000001']],
  ['SANDBOX_PROVIDER', ['true', 'no']],
  ['RATE_LIMITS', ['yes', 'tier-9=1', 'tier-2', 'tier-2=', 'tier-2=0', 'tier-2=-1', 'tier-2=1;tier-3=1', 'tier-2=1,']],
  ['TRUST_PROXY', ['nonsense', '10.0.0.300', '10.0.0.0/64', 'proxy.example.com', '10.0.0.1,,', '-1']],
  ['CORS_ORIGINS', ['*', 'example.com', 'https://example.com/', 'https://a.example,nonsense']],
  ['MCP_HOSTS', ['https://review.internal', 'review.internal:3000', 'a,,b', '*']],
  ['OAUTH_ISSUER', ['login.example.com', 'http://login.example.com', 'ftp://login.example.com']],
  ['OAUTH_AUDIENCE', ['without an issuer']],
  ['BODY_LIMIT', ['0', '1023', '1mb', '104857601']],
  ['LOG_LEVEL', ['verbose', 'INFO']],
  ['SERVER_PROCESSES', ['0', '257', 'all', '2']],
  ['SHUTDOWN_SECONDS', ['-1', '3601', 'soon']],
  ['CONSOLE_DIR', ['/there/is/no/such/directory']],
])('an invalid %s is reported', (name, values) => {
  for (const value of values) {
    const faults = faultsOf({ [name]: value }).split('\n');
    expect([value, faults.length, faults[1]?.split(':')[0]?.trim()]).toEqual([value, 2, name]);
  }
});

test('a data directory that cannot be created is named', () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, '');
  expect(faultsOf({ DATA_DIR: join(file, 'data') })).toContain('DATA_DIR: ');
  expect(faultsOf({ DATA_DIR: '/proc/nope/data' })).toContain('DATA_DIR: ');
});

test('all invalid settings are reported together', () => {
  const faults = faultsOf({ PORT: 'x', LOG_LEVEL: 'x', BODY_LIMIT: 'x' });
  for (const name of ['PORT', 'LOG_LEVEL', 'BODY_LIMIT']) expect(faults).toContain(`\n  ${name}: `);
});

test('an empty setting counts as none, space around one is ignored', () => {
  expect(read({ PORT: ' ', LOG_LEVEL: '', HOST: '  ::1 ' })).toMatchObject({
    port: 3000,
    logLevel: 'info',
    host: '::1',
  });
});

test.each([
  ['TRUST_PROXY', 'off', { trustProxy: false }],
  ['TRUST_PROXY', '2', { trustProxy: 2 }],
  ['TRUST_PROXY', 'loopback, 10.0.0.0/8, ::1, fd00::/8', { trustProxy: ['loopback', '10.0.0.0/8', '::1', 'fd00::/8'] }],
  ['RATE_LIMITS', 'off', { rateLimits: null }],
  [
    'RATE_LIMITS',
    'tier-2=1, failed-credentials=7',
    { rateLimits: { 'tier-2': 1, 'tier-3': 50, 'failed-credentials': 7 } },
  ],
  [
    'CORS_ORIGINS',
    'https://a.example, http://localhost:5173',
    { corsOrigins: ['https://a.example', 'http://localhost:5173'] },
  ],
  ['DATABASE_URL', 'postgresql://u:p@h/db', { database: { dialect: 'postgres', connections: 10 } }],
  ['PUBLIC_URL', 'https://review.example.com/base//', { publicUrl: 'https://review.example.com/base' }],
  ['TEMPORAL_ADDRESS', 'localhost:7233', { engine: 'temporal' }],
  ['GENERATION_SLOTS', 'VIDEO=9, 3D=1', { generation: { slots: { DOCUMENT: 4, IMAGE: 4, VIDEO: 9, '3D': 1 } } }],
  ['FAMILY_CAPS', 'veo=3,gpt-image=20', { generation: { familyCaps: { veo: 3, 'gpt-image': 20, kling: 10 } } }],
  ['GENERATION_DEADLINES', 'VIDEO=60', { generation: { deadlines: { VIDEO: 60, IMAGE: 600 } } }],
  ['GENERATION_QUEUE_LIMIT', '1', { generation: { queueLimit: 1 } }],
  ['SANDBOX_PROVIDER', 'off', { generation: { sandbox: false } }],
  ['TEMPORAL_UI_URL', 'http://localhost:8233/', { generation: { temporalUiUrl: 'http://localhost:8233' } }],
  ['PORT', '0', { port: 0 }],
  ['SERVER_PROCESSES', '1', { processes: 1 }],
])('%s=%s', (name, value, expected) => {
  expect(read({ [name]: value })).toMatchObject(expected);
});

describe('secrets', () => {
  test('production requires both and creates none', () => {
    const directory = freshFolder();
    const faults = faultsOf({ NODE_ENV: 'production', DATA_DIR: directory });
    expect(faults).toContain('\n  SECRET_KEY: required in production');
    expect(faults).toContain('\n  WORKER_TOKEN: required in production');
    expect(() => readdirSync(directory)).toThrow();
    expect(read(PRODUCTION)).toMatchObject({ production: true, host: '0.0.0.0', secretKey: PRODUCTION.SECRET_KEY });
  });

  test('outside production they are created once, readable by their owner only, with missing directories', () => {
    const settings = { DATA_DIR: freshFolder() };
    const first = read(settings);
    expect(first.secretKey).toMatch(/^[0-9a-f]{64}$/);
    expect(first.workerToken).toMatch(/^[0-9a-f]{64}$/);
    expect(first.workerToken).not.toBe(first.secretKey);
    expect(read(settings)).toEqual(first);
    expect(readdirSync(settings.DATA_DIR).toSorted()).toEqual(['secret-key', 'worker-token']);
    for (const name of ['secret-key', 'worker-token']) {
      expect(statSync(join(settings.DATA_DIR, name)).mode & 0o777).toBe(0o600);
    }
    expect(readFileSync(join(settings.DATA_DIR, 'secret-key'), 'utf8')).toBe(first.secretKey);
  });

  test('a setting overrides a stored secret', () => {
    const settings = { DATA_DIR: freshFolder() };
    read(settings);
    expect(read({ ...settings, SECRET_KEY: PRODUCTION.SECRET_KEY }).secretKey).toBe(PRODUCTION.SECRET_KEY);
  });

  test('error messages do not repeat values, which may contain secrets', () => {
    const settings = {
      DATABASE_URL: 'postgres//user:hunter2@host/db',
      SECRET_KEY: 'hunter2',
      WORKER_TOKEN: 'hunter2',
      STORAGE_URL: 'https://key:hunter2@host',
    };
    const faults = faultsOf(settings);
    for (const name of Object.keys(settings)) expect(faults).toContain(`\n  ${name}: `);
    expect(faults).not.toContain('hunter2');
  });
});

test('the folder of a SQLite file is made', async () => {
  const config = read();
  await using opened = openDatabase(config.database, () => {});
  expect(opened.dialect).toBe('sqlite');
});

describe('the server', () => {
  test('with invalid settings names them without a stack and exits with 1', async () => {
    await using server = runProgram('main.js', { PORT: 'x', DATABASE_URL: 'postgres//u:hunter2@h/db' });
    const { code, errors } = await server.finished;
    expect([
      code,
      errors
        .trim()
        .split('\n')
        .map((line) => line.trim().split(':')[0]),
    ]).toEqual([1, ['The settings are not valid', 'PORT', 'DATABASE_URL']]);
    expect(errors).not.toContain('hunter2');
  });

  test('without a reachable database says so without the password and exits with 1', async () => {
    await using server = runProgram('main.js', { PORT: '0', DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:1/db' });
    const { code, errors, output } = await server.finished;
    expect(code).toBe(1);
    expect(errors).toContain('ECONNREFUSED');
    expect(errors + output).not.toContain('hunter2');
  });
});

test.each([
  ['OAUTH_JWKS_URL', ['keys', 'http://login.example.com/keys']],
  ['OAUTH_WORKSPACE', ['Studio', '1']],
])('an invalid %s is reported with an issuer', (name, values) => {
  for (const value of values) {
    const faults = faultsOf({ OAUTH_ISSUER: 'https://login.example.com/', [name]: value }).split('\n');
    expect([value, faults.length, faults[1]?.split(':')[0]?.trim()]).toEqual([value, 2, name]);
  }
});

test('the issuer is used exactly as written; the default audiences are the API and the tools', () => {
  const settings = { OAUTH_ISSUER: 'https://login.example.com/', PUBLIC_URL: 'https://review.example.com/' };
  expect(read().oauth).toBeNull();
  expect(read(settings).oauth).toEqual({
    issuer: 'https://login.example.com/',
    audiences: ['https://review.example.com', 'https://review.example.com/', 'https://review.example.com/mcp'],
    jwksUrl: null,
    workspace: { claim: 'workspace' },
    scopePrefix: '',
  });
});

test('every setting of the server is in the documentation', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const names = new Set(Array.from(read('./config.ts').matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g), ([, name]) => name ?? ''));
  expect(names.size).toBeGreaterThan(25);
  const listed = read('../../../../docs/self-hosting.md');
  expect([...names].filter((name) => !listed.includes(`\`${name}\``))).toEqual([]);
});
