import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { Storage, StorageUpload, StoredPart } from '../storage.ts';

export const newKey = (): string => randomUUID();

export async function beginUpload(storage: Storage, key: string = newKey()): Promise<StorageUpload> {
  return { key, upload: await storage.begin(key) };
}

/** Splits as the API does: equal parts, of which only the last may be below the minimum size. */
export function splitEvenly(bytes: Buffer, leastPart: number): Buffer[] {
  const count = Math.max(1, Math.floor(bytes.length / leastPart));
  const partSize = Math.ceil(bytes.length / count);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += partSize) parts.push(bytes.subarray(at, at + partSize));
  return parts;
}

export async function put(url: string, body: Buffer): Promise<Response> {
  return fetch(url, { method: 'PUT', body: new Uint8Array(body) });
}

export async function putPart(
  storage: Storage,
  target: StorageUpload,
  partNumber: number,
  body: Buffer,
): Promise<StoredPart> {
  const answer = await put(await storage.partUrl(target, { partNumber, size: body.length }, 60), body);
  expect(answer.status, await answer.text()).toBe(200);
  return { partNumber, eTag: answer.headers.get('etag') ?? '' };
}

export async function putParts(storage: Storage, target: StorageUpload, parts: Buffer[]): Promise<StoredPart[]> {
  const stored: StoredPart[] = [];
  for (const [index, part] of parts.entries()) stored.push(await putPart(storage, target, index + 1, part));
  return stored;
}

/** Sends the bodies to the URLs in order, eight concurrently, without the overhead of `fetch`. */
export async function putAll(urls: readonly string[], bodyOf: (index: number) => Buffer): Promise<StoredPart[]> {
  const agent = new Agent({ keepAlive: true });
  const stored: StoredPart[] = [];
  const waiting = urls.entries();
  const sender = async () => {
    for (const [index, url] of waiting) {
      const body = bodyOf(index);
      const sent = request(url, { agent, method: 'PUT', headers: { 'content-length': body.length } }).end(body);
      const [answer]: IncomingMessage[] = await once(sent, 'response');
      expect(answer?.statusCode, answer && (await text(answer))).toBe(200);
      stored.push({ partNumber: index + 1, eTag: answer?.headers.etag ?? '' });
    }
  };
  await Promise.all(Array.from({ length: 8 }, sender));
  agent.destroy();
  return stored;
}

/** The key of a new object with these bytes. */
export async function store(storage: Storage, bytes: Buffer, leastPart: number, key = newKey()): Promise<string> {
  const target = await beginUpload(storage, key);
  const parts = await putParts(storage, target, splitEvenly(bytes, leastPart));
  await storage.complete(target, parts, bytes.length);
  return target.key;
}

export async function readAll(
  storage: Storage,
  key: string,
  range?: { start?: number; length?: number },
): Promise<Buffer> {
  return buffer(await storage.read(key, range));
}

export async function download(
  storage: Storage,
  key: string,
  {
    name = 'report.pdf',
    mimeType = 'application/pdf',
    ...init
  }: { name?: string; mimeType?: string } & RequestInit = {},
): Promise<Response> {
  return fetch(await storage.downloadUrl(key, { name, mimeType }, 60), init);
}

export const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer());

/** Stores, reads and removes that many objects; every thirtieth has several parts. */
export async function expectRandomSizesUnchanged(storage: Storage, partSize: number, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const bytes = randomBytes(index % 30 > 0 ? randomInt(1, 20_000) : randomInt(partSize * 2, partSize * 3));
    const key = await store(storage, bytes, partSize);
    expect((await readAll(storage, key)).equals(bytes), `${bytes.length} bytes`).toBe(true);
    await storage.remove(key);
  }
}
