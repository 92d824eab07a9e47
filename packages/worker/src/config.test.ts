import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAMILIES } from '@review/contract';
import { ConfigError } from '@review/contract/settings';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { FFMPEG, lacksFfmpeg } from './media/test/decoders.ts';

const HOST = { name: 'box', pid: 7 };
const folder = mkdtempSync(join(tmpdir(), 'review-worker-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NO_PROVIDERS = {
  accounts: Object.fromEntries(FAMILIES.map((family) => [family, { state: 'sandbox' }])),
  modelMap: {},
  onUnknownSubmit: {},
};

const fault = (environment: Record<string, string>): string => {
  try {
    readConfig(environment, HOST);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'no fault';
};

test('only the token is required', () => {
  expect(readConfig({ WORKER_TOKEN: 'shared' }, HOST)).toEqual({
    name: 'box:7',
    serverUrl: 'http://127.0.0.1:3000',
    token: 'shared',
    port: null,
    logLevel: 'info',
    tracing: null,
    concurrency: 20,
    mediaConcurrency: availableParallelism(),
    decoder: { name: 'node-av' },
    sandboxMs: 1500,
    workDirectory: join(tmpdir(), 'review-worker-7'),
    allowsLoopbackWebhooks: false,
    providers: NO_PROVIDERS,
    temporal: {},
  });
});

test('settings override the defaults', () => {
  const given = {
    WORKER_TOKEN: ' shared ',
    WORKER_NAME: 'left',
    SERVER_URL: 'https://review.example.com',
    WORKER_PORT: '9100',
    LOG_LEVEL: 'warn',
    WORKER_CONCURRENCY: '3',
    MEDIA_CONCURRENCY: '5',
    SANDBOX_MILLISECONDS: '0',
    WORK_DIR: '/var/work',
    WEBHOOK_LOOPBACK: 'on',
  };
  expect(readConfig(given, HOST)).toEqual({
    name: 'left',
    serverUrl: 'https://review.example.com',
    token: 'shared',
    port: 9100,
    logLevel: 'warn',
    tracing: null,
    concurrency: 3,
    mediaConcurrency: 5,
    decoder: { name: 'node-av' },
    sandboxMs: 0,
    // Never the folder itself: it is removed when the worker ends.
    workDirectory: '/var/work/review-worker-7',
    allowsLoopbackWebhooks: true,
    providers: NO_PROVIDERS,
    temporal: {},
  });
});

test.each([
  ['SERVER_URL', 'ftp://example.com', /http:\/\/127\.0\.0\.1:3000/],
  ['SERVER_URL', 'example', /http:\/\/127\.0\.0\.1:3000/],
  ['WORKER_PORT', 'yes', /off, or a port/],
  ['WORKER_PORT', '65536', /off, or a port/],
  ['WORKER_PORT', '-1', /off, or a port/],
  ['LOG_LEVEL', 'loud', /one of fatal/],
  ['WORKER_NAME', 'a'.repeat(256), /255/],
  ['WORKER_CONCURRENCY', '0', /1 to 1000/],
  ['MEDIA_CONCURRENCY', '101', /0 to 100/],
  ['SANDBOX_MILLISECONDS', 'soon', /whole number/],
  ['WEBHOOK_LOOPBACK', 'yes', /on or off/],
])('%s=%.9s is refused with the name and what to write', (name, value, remedy) => {
  const message = fault({ WORKER_TOKEN: 'shared', [name]: value });
  expect(message).toContain(`${name}: `);
  expect(message).toMatch(remedy);
});

test('missing fonts are reported at start-up', () => {
  const account = { WORKER_TOKEN: 'shared', DOCUMENT_LLM_API_KEY: 'k', DOCUMENT_LLM_MODEL: 'writer' };
  expect(fault({ ...account, PDF_FONT_CJK: join(folder, 'none.ttc') })).toContain('PDF_FONT_CJK: no such file');
  const { document } = readConfig({ ...account, PDF_FONT_DIR: folder }, HOST).providers.accounts;
  expect(document).toMatchObject({ state: 'live', fonts: [folder] });
});

/** A folder with programs of these texts. */
function programs(texts: Record<string, string>): string {
  const bin = mkdtempSync(join(folder, 'bin-'));
  for (const [name, text] of Object.entries(texts))
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return join(bin, 'ffmpeg');
}

test.each([
  ['a missing program', { ffmpeg: 'exit 0' }, /ffprobe cannot be run \(.*ENOENT/],
  [
    'a program that lacks an encoder',
    { ffprobe: '', ffmpeg: 'echo Unknown encoder libx264 >&2; exit 1' },
    /\(Unknown encoder libx264\)/,
  ],
])('%s is reported at start-up by FFMPEG_PATH', (_, texts, reason) => {
  const message = fault({ WORKER_TOKEN: 'shared', FFMPEG_PATH: programs(texts) });
  expect(message).toMatch(reason);
  expect(message).toMatch(/FFMPEG_PATH: .*write the path of ffmpeg 5.1 or later with libx264/);
});

test.skipIf(lacksFfmpeg)('FFMPEG_PATH selects the FFmpeg of the host', () => {
  const { decoder } = readConfig({ WORKER_TOKEN: 'shared', FFMPEG_PATH: FFMPEG ?? '' }, HOST);
  expect(decoder).toEqual({ name: 'ffmpeg', path: FFMPEG });
});

test('several faults are reported together', () => {
  const message = fault({ DATA_DIR: folder, WORKER_PORT: 'x', LOG_LEVEL: 'x' });
  for (const name of ['WORKER_TOKEN', 'WORKER_PORT', 'LOG_LEVEL']) expect(message).toContain(`${name}: `);
});

test('outside production the token is read from the data directory of the server', () => {
  expect(fault({ DATA_DIR: folder })).toContain(join(folder, 'worker-token'));
  const kept = mkdtempSync(join(folder, 'kept-'));
  writeFileSync(join(kept, 'worker-token'), 'kept by the server');
  expect(readConfig({ DATA_DIR: kept }, HOST).token).toBe('kept by the server');
  expect(fault({ DATA_DIR: kept, NODE_ENV: 'production' })).toContain('WORKER_TOKEN: required in production');
  expect(readConfig({ DATA_DIR: kept, WORKER_TOKEN: 'given' }, HOST).token).toBe('given');
});
