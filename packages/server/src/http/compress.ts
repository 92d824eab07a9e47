import type { Readable } from 'node:stream';
import { constants } from 'node:zlib';
import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';

const MIN_BYTES = 1024;

// A strong ETag identifies the exact bytes, so that a response with an ETag must not be compressed.
const mayCompress = (response: Response): boolean => !response.hasHeader('ETag');

/**
 * Compresses dynamic responses at the fastest levels. These reduce a JSON list by four fifths; higher levels cost twice
 * the CPU for a few bytes more.
 */
export const compressAnswers: RequestHandler = compression({
  threshold: MIN_BYTES,
  level: constants.Z_BEST_SPEED,
  brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
  filter: (request, response) =>
    mayCompress(response) &&
    // Compression would buffer server-sent events.
    !String(response.getHeader('Content-Type')).startsWith('text/event-stream') &&
    compression.filter(request, response),
});

/** Compresses a response whose body is that text, or a stream. The middleware would cost a short one more than all other steps. */
export function compressIfLong(body: string | Readable, request: Request, response: Response): void {
  const isLong = typeof body !== 'string' || body.length >= MIN_BYTES;
  if (isLong && mayCompress(response)) compressAnswers(request, response, () => {});
}
