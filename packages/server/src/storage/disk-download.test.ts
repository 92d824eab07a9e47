import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { onDisk, statusOf } from './test/on-disk.ts';
import { bytesOf, download, newKey, store } from './test/upload.ts';

const disk = onDisk();
const small = randomBytes(1000);

describe('a download', () => {
  test.each([
    ['text/html', '<script>alert(1)</script>'],
    ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['text/markdown', '[x](javascript:alert(1))'],
  ])('of %s is an attachment without scripts', async (mimeType, text) => {
    const answer = await download(disk.storage, await store(disk.storage, Buffer.from(text), 1000), {
      name: 'a.x',
      mimeType,
    });
    expect(answer.headers.get('content-type')).toBe(mimeType);
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(answer.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('cache-control')).toMatch(/^private, max-age=(59|60)$/);
    expect(await answer.text()).toBe(text);
  });

  test.each([
    'plain.txt',
    'två ord.txt',
    '映画.mp4',
    '🎬 final (2).mov',
    `it's "quoted" \\ 100%.txt`,
    "*'()!~;=,.txt",
    'مرحبا.pdf',
    'e\u0301.png',
    'a\u202egnp.exe',
  ])('is named %s', async (name) => {
    const answer = await download(disk.storage, await store(disk.storage, small, 1000), { name });
    expect(answer.status).toBe(200);
    expect(shownName(answer.headers.get('content-disposition') ?? '')).toBe(name);
  });

  test('with a lone surrogate or a line break in its name, or an invalid type, has valid headers', async () => {
    const key = await store(disk.storage, small, 1000);
    const answer = await download(disk.storage, key, {
      name: 'a\ud83d\r\nX-Evil: 1',
      mimeType: 'text/html\r\nX-Evil: 1',
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-evil')).toBeNull();
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(shownName(answer.headers.get('content-disposition') ?? '')).toBe('a\ufffd\r\nX-Evil: 1');
  });

  test('answers HEAD, If-Range, If-None-Match and If-Match', async () => {
    const key = await store(disk.storage, small, 1000);
    const head = await download(disk.storage, key, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '1000', '']);
    expect(head.headers.get('accept-ranges')).toBe('bytes');
    const eTag = head.headers.get('etag') ?? '';
    const range = 'bytes=10-19';
    const same = await download(disk.storage, key, { headers: { range, 'if-range': eTag } });
    expect([same.status, await bytesOf(same)]).toEqual([206, small.subarray(10, 20)]);
    const other = await download(disk.storage, key, { headers: { range, 'if-range': '"other"' } });
    expect([other.status, await bytesOf(other)]).toEqual([200, small]);
    // Not with fetch, which adds Cache-Control: no-cache to If-None-Match.
    const url = await disk.storage.downloadUrl(key, { name: 'a', mimeType: 'text/plain' }, 60);
    expect(await statusOf(request(url, { headers: { 'if-none-match': eTag } }).end())).toBe(304);
    const changed = await download(disk.storage, key, { headers: { 'if-match': '"other"' } });
    expect(changed.headers.get('content-type')).toContain('application/problem+json');
    expect([changed.status, await changed.json()]).toMatchObject([412, { code: 'PRECONDITION_FAILED' }]);
  });

  test('accepts GET and HEAD: other methods are 405 with Allow', async () => {
    const key = await store(disk.storage, small, 1000);
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const answer = await download(disk.storage, key, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(await answer.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
    }
  });

  test('that is refused has no headers of the object', async () => {
    const key = await store(disk.storage, small, 1000);
    const answer = await download(disk.storage, key, { headers: { range: 'bytes=5000-' } });
    expect(answer.headers.get('content-range')).toBe('bytes */1000');
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect([answer.status, await answer.json()]).toMatchObject([416, { code: 'RANGE_NOT_SATISFIABLE' }]);
    for (const name of ['content-disposition', 'cache-control', 'etag']) expect(answer.headers.get(name)).toBeNull();
    const missing = await download(disk.storage, newKey());
    expect(missing.headers.get('content-type')).toContain('application/problem+json');
    expect(missing.headers.get('cache-control')).toBeNull();
    expect(await missing.json()).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('of a path outside of the directory is 404', async () => {
    const { origin, search } = new URL(await disk.storage.downloadUrl(newKey(), { name: 'a', mimeType: 'a/b' }, 60));
    for (const path of ['..%2f..%2fetc%2fpasswd', '%2e%2e/secret', '%00', 'a%5c..%5cb', '.hidden']) {
      const answer = await fetch(`${origin}/blobs/objects/${path}${search}`);
      expect([403, 404]).toContain(answer.status);
    }
  });

  /** As a browser reads it (RFC 6266). */
  function shownName(disposition: string): string | undefined {
    const extended = /filename\*=UTF-8''([\w!#$&+.^`|~%-]+)$/.exec(disposition)?.[1];
    return extended === undefined ? /filename="([^"\\]*)"$/.exec(disposition)?.[1] : decodeURIComponent(extended);
  }
});
