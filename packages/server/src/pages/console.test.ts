import { createSecretKey } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { listen } from '../listen.ts';
import { openStorage } from '../storage/open.ts';
import { serveConsole } from './console.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'review-console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<title>Console</title>');
  writeFileSync(join(folder, 'assets', 'index-1a2b.js'), '1;');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function ask(path: string, storageUrl = `file:${join(folder, 'files')}`): Promise<Response> {
  const publicUrl = 'https://review.example.com';
  await using storage = openStorage({ storageUrl, publicUrl, signingKeys: [createSecretKey(Buffer.alloc(32, 7))] });
  const app = express().use(serveConsole(folder, storage));
  await using listening = await listen(app, { host: '127.0.0.1', port: 0 }, 1);
  const response = await fetch(`http://127.0.0.1:${listening.port}${path}`);
  return new Response(await response.text(), response);
}

const directive = (response: Response, name: string) =>
  (response.headers.get('content-security-policy') ?? '').split('; ').find((entry) => entry.startsWith(`${name} `));

test('every path of a page answers with index.html, which is not cached', async () => {
  for (const path of ['/', '/runs', '/files/FX0123456789ABCDEFGHJK']) {
    const response = await ask(path);
    expect(await response.text(), path).toContain('Console');
    expect(response.headers.get('cache-control'), path).toBe('no-cache');
  }
});

test('a script is compressed, and cached for a year', async () => {
  const response = await ask('/assets/index-1a2b.js');
  expect(await response.text()).toBe('1;');
  expect(response.headers.get('content-encoding')).toMatch(/^(br|gzip)$/);
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
});

test('/index.html redirects, because it would be served without the policy', async () => {
  const response = await ask('/index.html');
  expect(response.headers.get('cache-control')).toBe('no-cache');
  expect(directive(response, 'default-src')).toBe("default-src 'self'");
});

test('files with a hash in their name are cached as immutable', async () => {
  const response = await ask('/assets/index-1a2b.js');
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
});

test.each(['/api/nothing', '/worker/nothing', '/mcp', '/blobs/nothing', '/assets/gone.js'])(
  '%s is not a page',
  async (path) => {
    expect((await ask(path)).status).toBe(404);
  },
);

test('the page runs no foreign code and cannot be framed', async () => {
  const response = await ask('/');
  expect(directive(response, 'default-src')).toBe("default-src 'self'");
  expect(directive(response, 'script-src')).toBe("script-src 'self' 'wasm-unsafe-eval'");
  expect(directive(response, 'frame-ancestors')).toBe("frame-ancestors 'none'");
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
});

test('the page may connect to the origin of presigned URLs and to no other', async () => {
  expect(directive(await ask('/'), 'connect-src')).toBe("connect-src 'self' blob: https://review.example.com");
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'somebody');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const bucket = 's3://review?region=eu-central-1&endpoint=https://store.example.com&forcePathStyle=true';
  const response = await ask('/', bucket);
  vi.unstubAllEnvs();
  for (const name of ['img-src', 'media-src', 'connect-src']) {
    expect(directive(response, name), name).toMatch(/ https:\/\/store\.example\.com$/);
  }
});
