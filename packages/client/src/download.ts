import type { FileRecord, Rendition, RenditionKind } from '@review/contract';
import { openPartialFile, sha256 } from '#platform';
import { readAnswer } from './call.ts';
import type { Client } from './client.ts';
import { ApiProblem } from './problem.ts';
import { retryTransient } from './retry.ts';
import { chunksOf } from './source.ts';

const RETRIES = 8;
/** How long a download may stall before it reconnects. */
const STALL_MS = 30_000;

export interface DownloadOptions {
  /** Downloads a rendition of the file instead of its content; of several proxies, the largest. */
  rendition?: Lowercase<RenditionKind>;
  /** Called with the bytes received; the total is null if unknown. */
  onProgress?: (received: number, total: number | null) => void;
  signal?: AbortSignal;
  /** The maximum of reconnects without progress. Default: 8. */
  retries?: number;
  /** Fetches the bytes. Default: the global `fetch`. */
  fetch?: typeof fetch;
}

/** The size or the hash of the received bytes is not that of the file. */
export class DownloadDamaged extends Error {
  override name = 'DownloadDamaged';
}

/**
 * Downloads a file or a comment's attachment: to a path (in Node), where an earlier partial download is resumed, or as a
 * Blob. Reconnects and resumes after a broken connection. The hash of a file is checked if the service knows it.
 */
export function download(client: Client, id: string, options: DownloadOptions & { to: string }): Promise<void>;
export function download(client: Client, id: string, options?: DownloadOptions): Promise<Blob>;
export async function download(
  client: Client,
  id: string,
  { to, ...options }: DownloadOptions & { to?: string } = {},
): Promise<Blob | void> {
  if (to !== undefined) return downloadTo(to, client, id, options);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const file = await findRecord(client, id, options);
  for await (const chunk of readVerified(client, id, file, 0, options)) chunks.push(chunk);
  return new Blob(chunks, { type: file?.mimeType ?? '' });
}

/** Downloads as a stream, which ends with `DownloadDamaged` if size or hash do not match. */
export async function downloadStream(
  client: Client,
  id: string,
  options: DownloadOptions = {},
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const chunks = readVerified(client, id, await findRecord(client, id, options), 0, options);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return();
    },
  });
}

async function downloadTo(to: string, client: Client, id: string, options: DownloadOptions): Promise<void> {
  const file = await findRecord(client, id, options);
  const partial = await openPartialFile(to, options.rendition === undefined ? id : `${id}-${options.rendition}`);
  try {
    for await (const chunk of readVerified(client, id, file, partial.size, options, partial.read())) {
      await partial.write(chunk);
    }
  } catch (error) {
    await (error instanceof DownloadDamaged ? partial.discard() : partial.close());
    throw error;
  }
  await partial.commit();
}

/** What is known about the bytes before they arrive. */
type Known = Pick<FileRecord, 'mimeType' | 'size' | 'sha256'>;

/** Returns the record of the content; null for a comment's attachment, or without the scope `files:read`. */
async function findRecord(client: Client, id: string, { signal, rendition }: DownloadOptions): Promise<Known | null> {
  if (isAttachment(id)) return null;
  if (rendition !== undefined) return { ...(await getRendition(client, id, rendition, signal)), sha256: null };
  try {
    return (await client.files.get({ params: { id } }, { ...(signal && { signal }) })).data;
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'INSUFFICIENT_SCOPE') return null;
    throw error;
  }
}

async function getRendition(
  { files }: Client,
  id: string,
  kind: Lowercase<RenditionKind>,
  signal: AbortSignal | undefined,
): Promise<Rendition> {
  const { data } = await files.get({ params: { id } }, { ...(signal && { signal }) });
  const found = data.renditions.find((rendition) => rendition.kind.toLowerCase() === kind);
  if (found === undefined)
    throw new Error(`The file ${id} has no ${kind}; its media is ${data.media?.status ?? 'none'}.`);
  return found;
}

const isAttachment = (id: string) => id.startsWith('CA');

/** Yields the bytes from `from` on, and checks size and hash. The bytes in `before` are only hashed. */
async function* readVerified(
  client: Client,
  id: string,
  file: Known | null,
  from: number,
  options: DownloadOptions,
  before: AsyncIterable<Uint8Array> = chunksOf(new Blob([]).stream()),
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const hash = sha256();
  for await (const chunk of before) hash.update(chunk);
  let received = from;
  const total = file?.size ?? null;
  if (received < (total ?? Number.POSITIVE_INFINITY)) {
    for await (const { chunk, size } of readWithReconnects(client, id, from, options)) {
      hash.update(chunk);
      received += chunk.byteLength;
      options.onProgress?.(received, total ?? size);
      yield chunk;
    }
  }
  if (total !== null && received !== total) throw new DownloadDamaged(`Received ${received} bytes, expected ${total}.`);
  const known = file?.sha256 ?? null;
  if (known !== null && hash.hex() !== known)
    throw new DownloadDamaged(`The SHA-256 of the received bytes is not that of ${id}.`);
}

interface Received {
  chunk: Uint8Array<ArrayBuffer>;
  size: number | null;
}

/** Yields the bytes from `from` on, and reconnects after errors. */
async function* readWithReconnects(
  client: Client,
  id: string,
  from: number,
  { signal, retries = RETRIES, fetch = globalThis.fetch, rendition }: DownloadOptions,
): AsyncGenerator<Received, void> {
  let connection: Connection | undefined;
  let received = from;
  const next = async () => {
    try {
      connection ??= await connect(await urlOf(client, id, rendition, signal), received, fetch, signal);
      return await connection.next();
    } catch (error) {
      connection = undefined;
      throw error;
    }
  };
  try {
    for (;;) {
      const chunk = await retryTransient(next, { retries, signal, transientStatuses: [500] });
      if (chunk === null) return;
      received += chunk.byteLength;
      yield { chunk, size: connection?.size ?? null };
    }
  } finally {
    connection?.close();
  }
}

interface Connection {
  size: number | null;
  /** Null at the end. */
  next(): Promise<Uint8Array<ArrayBuffer> | null>;
  close(): void;
}

/** Returns a new presigned URL for each connection, because the previous one may have expired. */
async function urlOf(
  client: Client,
  id: string,
  rendition: DownloadOptions['rendition'],
  signal: AbortSignal | undefined,
): Promise<string> {
  if (rendition !== undefined) return (await getRendition(client, id, rendition, signal)).url;
  const { files, attachments } = client;
  const request = { params: { id } };
  const options = { retries: 0, ...(signal && { signal }) };
  const { data } = await (isAttachment(id) ? attachments.download(request, options) : files.download(request, options));
  return data.url;
}

async function connect(
  url: string,
  from: number,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const stalled = new AbortController();
  const withStallTimeout = async <T>(work: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => stalled.abort(new DOMException('The download stalled.', 'TimeoutError')), STALL_MS);
    return work.finally(() => clearTimeout(timer));
  };
  const either = signal ? AbortSignal.any([signal, stalled.signal]) : stalled.signal;
  const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {};
  const response = await withStallTimeout(fetch(url, { headers, signal: either }));
  // The partial file was already complete.
  if (response.status === 416 && from > 0) return { size: from, next: async () => null, close: () => stalled.abort() };
  if (!response.ok || response.body === null) throw new ApiProblem(await withStallTimeout(readAnswer(response)));
  let toSkip = response.status === 206 ? 0 : from;
  const length = response.headers.get('content-length');
  const reader = response.body.getReader();
  return {
    size: length === null ? null : Number(length) + from - toSkip,
    async next() {
      for (;;) {
        const { done, value } = await withStallTimeout(reader.read());
        if (done) return null;
        const chunk = value.subarray(Math.min(toSkip, value.byteLength));
        toSkip -= value.byteLength - chunk.byteLength;
        if (chunk.byteLength > 0) return chunk;
      }
    },
    close: () => stalled.abort(),
  };
}
