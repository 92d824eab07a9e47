import type { ProblemCode } from '@review/contract';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { ProblemError } from '../request/problem.ts';
import { type DiskFiles, READ_BYTES, UnknownUpload } from './disk-files.ts';
import { WrongMd5, WrongSize } from './disk-parts.ts';
import { attachment, servedType } from './download-headers.ts';
import { freeSent } from './free-chunks.ts';
import { PartReplaced } from './part-writes.ts';
import { nowInSeconds, type SignedUrls } from './signed-url.ts';

export const partPathOf = (upload: string, partNumber: number): string => `/blobs/parts/${upload}/${partNumber}`;
export const objectPathOf = (key: string): string => `/blobs/objects/${key}`;

/** The routes of the disk's signed URLs. They need no credential beside the signature. */
export function diskRouter(files: DiskFiles, urls: SignedUrls): Router {
  return Router({ caseSensitive: true, strict: true })
    .put(PART_ROUTE, putPart(files, urls))
    .all(PART_ROUTE, allowOnly('OPTIONS, PUT'))
    .get(OBJECT_ROUTE, getObject(files, urls))
    .all(OBJECT_ROUTE, allowOnly('GET, HEAD, OPTIONS'));
}

const PART_ROUTE = '/blobs/parts/:upload/:partNumber';
const OBJECT_ROUTE = '/blobs/objects/:key';

const allowOnly =
  (allow: string): RequestHandler =>
  (request, response) => {
    if (request.method !== 'OPTIONS') throw new ProblemError('METHOD_NOT_ALLOWED', { headers: { Allow: allow } });
    response.set('Allow', allow).status(204).end();
  };

const putPart =
  (files: DiskFiles, urls: SignedUrls): RequestHandler<{ upload: string; partNumber: string }> =>
  async (request, response) => {
    response.locals.operation = 'blobs.putPart';
    const query = queryOf(request);
    urls.verify({ method: 'PUT', path: request.path }, query);
    const offset = query.get('offset');
    const part = {
      partNumber: Number(request.params.partNumber),
      size: Number(query.get('size')),
      offset: offset === null ? undefined : Number(offset),
      md5: announcedMd5(request),
    };
    const length = request.get('content-length');
    if (length !== undefined && Number(length) !== part.size) {
      throw invalid(`The part must have ${part.size} bytes; the Content-Length is ${length}.`);
    }
    try {
      // Keeps the connection open for the response when the body is refused half way.
      const body = request.iterator({ destroyOnReturn: false });
      const eTag = await files.putPart(request.params.upload, part, body);
      response.status(200).set('ETag', `"${eTag}"`).end();
    } catch (error) {
      request.resume();
      if (error instanceof WrongSize || error instanceof WrongMd5) throw invalid(error.message);
      if (error instanceof UnknownUpload) throw new ProblemError('NOT_FOUND');
      // The rest of the body is not read.
      if (error instanceof PartReplaced) throw new ProblemError('PART_REPLACED', { headers: { Connection: 'close' } });
      if (request.destroyed && !request.complete) throw invalid('The connection closed before the whole body arrived.');
      throw error;
    }
  };

/** The MD5 of `Content-MD5` (RFC 1864) in hex. */
function announcedMd5(request: Request<Record<string, string>>): string | undefined {
  const given = request.get('content-md5');
  if (given === undefined) return undefined;
  if (!/^[A-Za-z0-9+/]{22}==$/.test(given)) throw invalid('Content-MD5 must be the MD5 of the body in base64.');
  return Buffer.from(given, 'base64').toString('hex');
}

const invalid = (detail: string) => new ProblemError('INVALID_REQUEST', { detail });

const getObject =
  (files: DiskFiles, urls: SignedUrls): RequestHandler<{ key: string }> =>
  (request, response, next) => {
    response.locals.operation = 'blobs.getObject';
    const query = queryOf(request);
    urls.verify({ method: 'GET', path: request.path }, query);
    const { key } = request.params;
    const headers = {
      'Content-Disposition': attachment(query.get('name') ?? key),
      'Content-Type': servedType(query.get('type') ?? ''),
      // Uploaded content can contain scripts: a browser that renders it must not run them.
      'Content-Security-Policy': "sandbox; default-src 'none'",
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': `private, max-age=${Number(query.get('expires')) - nowInSeconds()}`,
      // The bytes under a key never change.
      ETag: `"${key}"`,
    };
    const options = {
      root: files.objects,
      dotfiles: 'allow',
      cacheControl: false,
      headers,
      highWaterMark: READ_BYTES,
    } as const;
    freeSent(response);
    response.sendFile(files.nameOf(key), options, (error?: Error) => {
      if (error === undefined) return;
      if (response.headersSent) response.destroy();
      else refuse(error, response, Object.keys(headers), next);
    });
  };

function refuse(error: Error, response: Response, headers: string[], next: (error: unknown) => void): void {
  for (const name of [...headers, 'Last-Modified']) response.removeHeader(name);
  const code = 'status' in error && typeof error.status === 'number' ? REFUSALS[error.status] : undefined;
  next(code === undefined ? error : new ProblemError(code));
}

/** `Content-Range` is kept for 416: it contains the size of the object. */
const REFUSALS: Record<number, ProblemCode> = {
  404: 'NOT_FOUND',
  412: 'PRECONDITION_FAILED',
  416: 'RANGE_NOT_SATISFIABLE',
};

const queryOf = (request: Request<Record<string, string>>) => new URL(request.url, 'http://localhost').searchParams;
