import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ProblemError } from '../request/problem.ts';

const DECODERS = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress };
const ENCODINGS = Object.keys(DECODERS).join(', ');

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Reads and decompresses a body of at most `limit` bytes. Refuses a larger Content-Length before it reads anything.
 * `endAfterBody` discards the unread rest of a refused body.
 */
export async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const decoder = decoderOf(request.headers['content-encoding']);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  const source = decoder === null ? request : request.pipe(decoder);
  const onError = (error: Error) => decoder?.destroy(error);
  request.on('error', onError);
  try {
    return await collect(source, limit);
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    if (request.destroyed && !request.complete) throw invalid('The connection closed before the whole body arrived.');
    throw invalid('The body could not be decompressed: it does not match its Content-Encoding.');
  } finally {
    request.off('error', onError);
    if (decoder !== null) {
      request.unpipe(decoder);
      decoder.destroy();
    }
  }
}

/**
 * Returns the bytes of a stream. Stops reading at the limit, but does not destroy the stream: that would close the
 * connection before the response is sent. Uses listeners, which cost a fraction of an async iterator for a small body.
 */
function collect(source: Readable, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) reject(tooLarge(limit));
    else chunks.push(chunk);
  };
  const onEnd = () => {
    // The stream closes before the promise has settled, and each error takes a stack trace.
    source.off('close', onClose);
    resolve(Buffer.concat(chunks, size));
  };
  const onClose = () => reject(new Error('The stream closed before its end.'));
  if (source.destroyed) onClose();
  source.on('data', onData).on('end', onEnd).on('error', reject).on('close', onClose);
  return promise.finally(() => {
    source.off('data', onData).off('end', onEnd).off('error', reject).off('close', onClose).pause();
  });
}

function decoderOf(encoding = 'identity') {
  const name = encoding.trim().toLowerCase();
  if (name === 'identity' || name === '') return null;
  if (isKnown(name)) return DECODERS[name]();
  throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
    detail: `The Content-Encoding is not supported. Send the body uncompressed, or encoded as one of ${ENCODINGS}.`,
    headers: { 'Accept-Encoding': ENCODINGS },
  });
}

const isKnown = (name: string): name is keyof typeof DECODERS => Object.hasOwn(DECODERS, name);

const tooLarge = (limit: number) =>
  new ProblemError('BODY_TOO_LARGE', { detail: `The body may have at most ${limit} bytes.` });

const invalid = (detail: string) => new ProblemError('INVALID_JSON', { detail });
