import { describe, expect, test } from 'vitest';
import { openStorage } from './open.ts';
import { StorageFull, StorageUnavailable, type UnfinishedUpload } from './storage.ts';
import { BUCKET, DRIVERS, openOnAnswers, openOnS3rver, SIGNING_KEY, s3Url } from './test/drivers.ts';
import { download, newKey, store } from './test/upload.ts';

describe('unreachable S3', () => {
  test('every call throws StorageUnavailable', async () => {
    await using gone = openAt(s3Url('http://127.0.0.1:9'));
    const target = { key: newKey(), upload: 'u' };
    const parts = [{ partNumber: 1, eTag: 'e' }];
    await expect(gone.begin(target.key)).rejects.toThrow(StorageUnavailable);
    await expect(gone.complete(target, parts, 1)).rejects.toThrow(StorageUnavailable);
    await expect(gone.abort(target)).rejects.toThrow(StorageUnavailable);
    await expect(gone.read(target.key)).rejects.toThrow(StorageUnavailable);
    await expect(gone.remove(target.key)).rejects.toThrow(StorageUnavailable);
    expect(await gone.isReachable()).toBe(false);
  });

  test('a bucket that does not exist is not reachable', async () => {
    const fauxqs = DRIVERS.find(({ name }) => name.includes('fauxqs'));
    await using opened = await fauxqs?.open();
    const url = new URL((await opened?.storage.downloadUrl(newKey(), { name: 'a', mimeType: 'a/b' }, 60)) ?? '');
    await using present = openAt(s3Url(url.origin, BUCKET));
    await using absent = openAt(s3Url(url.origin, 'absent'));
    expect([await present.isReachable(), await absent.isReachable()]).toEqual([true, false]);
  });

  const openAt = (storageUrl: string) => openStorage({ storageUrl, publicUrl: '', signingKeys: [SIGNING_KEY] });
});

describe('failing S3', () => {
  test.each([500, 502, 503, 429])('%i is StorageUnavailable', async (status) => {
    await using s3 = await openOnAnswers((_request, response) => response.writeHead(status).end());
    await expect(s3.storage.begin(newKey())).rejects.toThrow(StorageUnavailable);
    await expect(s3.storage.read(newKey())).rejects.toThrow(StorageUnavailable);
  });

  test('507 is StorageFull', async () => {
    await using s3 = await openOnAnswers((_request, response) => response.writeHead(507).end());
    await expect(s3.storage.begin(newKey())).rejects.toThrow(StorageFull);
  });

  test('403 is neither StorageFull nor StorageUnavailable', async () => {
    await using s3 = await openOnAnswers((_request, response) => response.writeHead(403).end());
    await expect(s3.storage.begin(newKey())).rejects.not.toThrow(StorageUnavailable);
  });

  test('a complete whose response is lost succeeds if the object has the right size', async () => {
    await using s3 = await openOnAnswers((request, response) => {
      if (request.method === 'HEAD') response.writeHead(200, { 'content-length': '5' }).end();
      else request.socket.destroy();
    });
    const target = { key: newKey(), upload: 'u' };
    const parts = [{ partNumber: 1, eTag: 'e' }];
    await s3.storage.complete(target, parts, 5);
    await expect(s3.storage.complete(target, parts, 6)).rejects.toThrow(StorageUnavailable);
  });
});

// Neither stand-in supports ListMultipartUploads.
test('S3 lists unfinished uploads page by page', async () => {
  const asked: (string | null)[][] = [];
  const page = (key: string, upload: string, next: string) =>
    `<ListMultipartUploadsResult><Upload><Key>some/folder/${key}</Key><UploadId>${upload}</UploadId>` +
    `<Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload>${next}</ListMultipartUploadsResult>`;
  const more =
    '<IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker>';
  await using s3 = await openOnAnswers(({ url = '' }, response) => {
    const { searchParams } = new URL(url, 'http://s3');
    asked.push(['uploads', 'prefix', 'key-marker', 'upload-id-marker'].map((name) => searchParams.get(name)));
    response.end(searchParams.has('key-marker') ? page('b', 'two', '') : page('a', 'one', more));
  });
  const found: UnfinishedUpload[] = [];
  for await (const upload of s3.storage.listUploads()) found.push(upload);
  const changedAt = new Date('2026-01-02T03:04:05Z');
  expect(found).toEqual([
    { key: 'a', upload: 'one', changedAt },
    { key: 'b', upload: 'two', changedAt },
  ]);
  expect(asked).toEqual([
    ['', 'some/folder/', null, null],
    ['', 'some/folder/', 'k', 'u'],
  ]);
});

test('S3 (s3rver, signatures not checked): a Unicode name reaches the header', async () => {
  await using opened = await openOnS3rver({ checkSignatures: false });
  const key = await store(opened.storage, Buffer.from('abc'), 1);
  const answer = await download(opened.storage, key, { name: '映画 “1”.mp4', mimeType: 'video/mp4' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-disposition')).toBe(
    `attachment; filename="__ _1_.mp4"; filename*=UTF-8''${encodeURIComponent('映画 “1”.mp4')}`,
  );
  expect(answer.headers.get('content-type')).toBe('video/mp4');
});
