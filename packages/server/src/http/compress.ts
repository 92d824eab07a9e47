import { Readable } from 'node:stream';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';

const MIN_BYTES = 1024;
/** A longer text is compressed by a thread of the pool, so that other requests do not wait for it. */
const MAX_INLINE = 128 * 1024;
/** The fastest levels reduce a JSON list by four fifths; higher ones cost twice the CPU for a few bytes more. More memory is faster. */
const GZIP = { level: constants.Z_BEST_SPEED, memLevel: constants.Z_MAX_MEMLEVEL };
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

export type Encoding = 'br' | 'gzip';
/** In order of preference. */
const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];

/** Returns the preferred encoding among those that the request accepts; undefined if it accepts none. */
export const encodingFor = (request: Request): Encoding | undefined =>
  ENCODINGS.find((one) => request.acceptsEncodings(one) === one);

// A strong ETag identifies the exact bytes, so that a response with an ETag must not be compressed.
const mayCompress = (response: Response): boolean => !response.hasHeader('ETag');

/** Compresses dynamic responses. */
export const compressAnswers: RequestHandler = compression({
  threshold: MIN_BYTES,
  ...GZIP,
  brotli: BROTLI,
  filter: (request, response) =>
    mayCompress(response) &&
    // Compression would buffer server-sent events.
    !String(response.getHeader('Content-Type')).startsWith('text/event-stream') &&
    compression.filter(request, response),
});

const COMPRESS: Record<Encoding, (text: string) => Buffer> = {
  br: (text) => brotliCompressSync(text, BROTLI),
  gzip: (text) => gzipSync(text, GZIP),
};

/**
 * Returns the body to send and sets its headers. A text that is not very long is compressed on this thread: a page takes 0.1 to
 * 0.3 ms, and the stream of the middleware, with a thread of the pool, costs up to twice as much.
 */
export function compressed<Body>(body: Body, request: Request, response: Response): Body | Buffer {
  const isText = typeof body === 'string';
  if (body instanceof Readable || (isText && body.length > MAX_INLINE)) {
    compressAnswers(request, response, () => {});
    return body;
  }
  if (!isText || body.length < MIN_BYTES || !mayCompress(response)) return body;
  response.vary('Accept-Encoding');
  const encoding = encodingFor(request);
  if (encoding === undefined) return body;
  response.set('Content-Encoding', encoding);
  return COMPRESS[encoding](body);
}
