import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { UploadPart } from '@review/contract';
import { StepError } from '../step-error.ts';

const STORAGE_FULL = 507;

/** Sends a part of a file to its presigned URL, and returns the ETag. */
export async function putPart(
  path: string,
  start: number,
  { size, url }: UploadPart,
  signal: AbortSignal,
): Promise<string> {
  const bytes = Readable.toWeb(createReadStream(path, { start, end: start + size - 1 }));
  const init = { method: 'PUT', body: bytes, duplex: 'half', headers: { 'content-length': String(size) }, signal };
  const response = await fetch(url, init as RequestInit).catch((error: unknown) => {
    throw signal.aborted ? error : new StepError('AWAY', 'The storage does not answer.');
  });
  if (response.status === STORAGE_FULL) throw new StepError('STORAGE_FULL', 'The storage is full.');
  const eTag = response.headers.get('etag');
  if (!response.ok || eTag === null) throw new StepError('AWAY', `The storage answered ${response.status}.`);
  return eTag;
}
