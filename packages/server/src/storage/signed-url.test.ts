import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { onDisk } from './test/on-disk.ts';
import { beginUpload, put, store } from './test/upload.ts';

const disk = onDisk();
const small = randomBytes(1000);

describe('signatures', () => {
  const downloadUrl = async (seconds = 60) =>
    disk.storage.downloadUrl(
      await store(disk.storage, small, 1000),
      { name: 'a b.txt', mimeType: 'text/plain' },
      seconds,
    );
  const partUrl = async (seconds = 60) =>
    disk.storage.partUrl(await beginUpload(disk.storage), { partNumber: 1, size: 1000 }, seconds);

  async function expectRefused(answer: Response) {
    expect(answer.status).toBe(403);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await answer.json()).toMatchObject({ code: 'INVALID_SIGNATURE' });
  }

  test.each(['name', 'type', 'expires', 'signature'])('a download with another %s is refused', async (parameter) => {
    for (const change of changes(parameter)) await expectRefused(await fetch(change(await downloadUrl())));
  });

  test.each(['size', 'expires', 'signature'])('a part with another %s is refused', async (parameter) => {
    for (const change of changes(parameter)) await expectRefused(await put(change(await partUrl()), small));
  });

  test('an added parameter and another path are refused', async () => {
    await expectRefused(await fetch(`${await downloadUrl()}&more=1`));
    const [ours, theirs] = [new URL(await downloadUrl()), new URL(await downloadUrl())];
    await expectRefused(await fetch(`${ours.origin}${theirs.pathname}${ours.search}`));
    const part = await partUrl();
    await expectRefused(await put(part.replace('/1?', '/2?'), small));
    await expectRefused(await put(part.replace('/1?', '/01?'), small));
  });

  test('the signature of one method is not valid for another', async () => {
    const key = await store(disk.storage, small, 1000);
    const sameKey = await disk.storage.partUrl({ key, upload: key }, { partNumber: 1, size: 1000 }, 60);
    await expectRefused(await fetch(sameKey.replace(/\/parts\/.*\?/, `/objects/${key}?`)));
    expect((await fetch(sameKey)).status).toBe(405);
  });

  test('an expired URL is refused', async () => {
    await expectRefused(await fetch(await downloadUrl(0)));
    await expectRefused(await put(await partUrl(-1), small));
  });

  /** The URL with the parameter altered, repeated, empty, and missing. */
  function changes(parameter: string): ((url: string) => string)[] {
    const altered = (alter: (query: URLSearchParams, value: string) => void) => (url: string) => {
      const changed = new URL(url);
      alter(changed.searchParams, changed.searchParams.get(parameter) ?? '');
      return changed.href;
    };
    return [
      altered((query, value) => query.set(parameter, `${value}0`)),
      altered((query, value) =>
        query.set(
          parameter,
          value.replace(/^./, (char) => (char === '1' ? '2' : '1')),
        ),
      ),
      altered((query, value) => query.append(parameter, value)),
      altered((query) => query.set(parameter, '')),
      altered((query) => query.delete(parameter)),
    ];
  }
});
