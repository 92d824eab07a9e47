import { type Request, type RequestHandler, type Response, Router } from 'express';
import { ProblemError } from '../http/problem.ts';
import { type DiskFiles, UnknownUpload, WrongSize } from './disk-files.ts';
import { attachment, servedType } from './download-headers.ts';
import { nowInSeconds, type SignedUrls } from './signed-url.ts';

export const partPathOf = (upload: string, partNumber: number): string => `/blobs/parts/${upload}/${partNumber}`;
export const objectPathOf = (key: string): string => `/blobs/objects/${key}`;

/** What signed URLs of the disk lead to. The signature is the permission; nothing else is asked for. */
export function diskRouter(files: DiskFiles, urls: SignedUrls): Router {
  return Router({ caseSensitive: true, strict: true })
    .put('/blobs/parts/:upload/:partNumber', putPart(files, urls))
    .get('/blobs/objects/:key', getObject(files, urls));
}

const putPart =
  (files: DiskFiles, urls: SignedUrls): RequestHandler<{ upload: string; partNumber: string }> =>
  async (request, response) => {
    response.locals.operation = 'blobs.putPart';
    const query = queryOf(request);
    urls.verify({ method: 'PUT', path: request.path }, query);
    const part = { partNumber: Number(request.params.partNumber), size: Number(query.get('size')) };
    const length = request.get('content-length');
    if (length !== undefined && Number(length) !== part.size) {
      throw wrongSize(`This part has ${part.size} bytes; the Content-Length is ${length}.`);
    }
    try {
      // The connection stays for the answer when the body is refused half way.
      const body = request.iterator({ destroyOnReturn: false });
      const eTag = await files.putPart(request.params.upload, part, body);
      response.status(200).set('ETag', `"${eTag}"`).end();
    } catch (error) {
      request.resume();
      if (error instanceof WrongSize) throw wrongSize(error.message);
      if (error instanceof UnknownUpload) throw new ProblemError('NOT_FOUND');
      if (request.destroyed && !request.complete) throw wrongSize('The request ended before its body did.');
      throw error;
    }
  };

const wrongSize = (detail: string) => new ProblemError('INVALID_REQUEST', { detail });

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
      // What people upload can carry script: should a browser show it after all, it runs nothing.
      'Content-Security-Policy': "sandbox; default-src 'none'",
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': `private, max-age=${Number(query.get('expires')) - nowInSeconds()}`,
      // The bytes under a key never change.
      ETag: `"${key}"`,
    };
    const options = { root: files.objects, dotfiles: 'allow', cacheControl: false, headers } as const;
    response.sendFile(files.nameOf(key), options, (error?: Error) => {
      if (error === undefined) return;
      if (response.headersSent) response.destroy();
      else refuse(error, response, Object.keys(headers), next);
    });
  };

function refuse(error: Error, response: Response, headers: string[], next: (error: unknown) => void): void {
  for (const name of [...headers, 'Last-Modified']) response.removeHeader(name);
  const status = 'status' in error ? error.status : undefined;
  if (status === 412 || status === 416) response.status(status).end();
  else next(status === 404 ? new ProblemError('NOT_FOUND') : error);
}

const queryOf = (request: Request<Record<string, string>>) => new URL(request.url, 'http://localhost').searchParams;
