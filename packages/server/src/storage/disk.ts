import type { Keys } from '../config/secrets.ts';
import { DiskFiles } from './disk-files.ts';
import { diskRouter, objectPathOf, partPathOf } from './disk-router.ts';
import { bytesOf } from './disk-write.ts';
import { plainName } from './names.ts';
import { orderedParts } from './parts.ts';
import { SignedUrls } from './signed-url.ts';
import type { Storage } from './storage.ts';

/** Stores objects in one directory and serves them by its own signed URLs. */
export function openDisk(directory: string, publicUrl: string, signingKeys: Keys): Storage & AsyncDisposable {
  const files = new DiskFiles(directory);
  const urls = new SignedUrls(publicUrl, signingKeys);
  return {
    // A copy, because the chunks are freed.
    put: (key, bytes) => files.put(key, [Buffer.from(bytes)]),
    putFile: (key, path, size) => files.put(key, bytesOf([{ path, start: 0, size }])),
    async begin(key) {
      plainName(key);
      return files.begin();
    },
    async partUrl({ upload }, { partNumber, size, offset }, expiresInSeconds) {
      const path = partPathOf(plainName(upload), partNumber);
      const range = { size: String(size), ...(offset !== undefined && { offset: String(offset) }) };
      return urls.sign({ method: 'PUT', path }, range, expiresInSeconds);
    },
    complete: async (target, parts, size) => files.complete(target, orderedParts(parts), size),
    abort: ({ upload }) => files.discard(upload),
    async downloadUrl(key, { name, mimeType }, expiresInSeconds, signedAt) {
      const path = objectPathOf(plainName(key));
      return urls.sign({ method: 'GET', path }, { name, type: mimeType }, expiresInSeconds, signedAt);
    },
    read: (key, range) => files.read(key, range),
    remove: (key) => files.remove(key),
    sizeOf: (key) => files.sizeOf(key),
    list: () => files.list(),
    listUploads: () => files.listUploads(),
    isReachable: () => files.isReachable(),
    router: diskRouter(files, urls),
    async [Symbol.asyncDispose]() {},
  };
}
