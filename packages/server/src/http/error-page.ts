import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { Deps } from '../deps.ts';
import { StorageFull, StorageUnavailable } from '../storage/storage.ts';
import { NotModified } from './conditional.ts';
import { ProblemError } from './problem.ts';

export const nothingHere: RequestHandler = () => {
  throw new ProblemError('NOT_FOUND');
};

/** Every failure becomes an answer here, and only here. */
export function errorPage({ log }: Pick<Deps, 'log'>): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (error instanceof NotModified) {
      response.status(304).end();
      return;
    }
    const problem = asProblem(error);
    const requestId = response.locals.requestId ?? '';
    if (problem.status >= 500) {
      log.error({ err: error, requestId, operation: response.locals.operation }, 'a request failed');
    }
    if (response.headersSent) {
      // Too late for an answer: the connection is cut, so that nobody takes half of one for the whole.
      next(error);
      return;
    }
    response
      .status(problem.status)
      .set(problem.headers)
      .type('application/problem+json')
      .send(JSON.stringify(problem.body(request.path, requestId)));
  };
}

/** What the caller is told of a failure: nothing of its inside. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof StorageFull) return new ProblemError('STORAGE_FULL');
  if (error instanceof StorageUnavailable) return new ProblemError('NOT_READY', { headers: { 'Retry-After': '1' } });
  if (error instanceof URIError) return new ProblemError('NOT_FOUND');
  switch (property(error, 'type')) {
    case 'entity.parse.failed':
    case 'request.size.invalid':
      return new ProblemError('INVALID_JSON');
    case 'entity.verify.failed':
      return new ProblemError('INVALID_JSON', { detail: 'The body is not encoded as UTF-8.' });
    case 'entity.too.large':
      return new ProblemError('BODY_TOO_LARGE', { detail: `At most ${property(error, 'limit')} bytes.` });
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return new ProblemError('UNSUPPORTED_MEDIA_TYPE');
    case 'request.aborted':
      return new ProblemError('INVALID_JSON', { detail: 'The request ended before its body did.' });
    default:
      break;
  }
  // The body parser holds the sender to blame, and gives no type: the body is not compressed as it says.
  if (property(error, 'statusCode') === 400) {
    return new ProblemError('INVALID_JSON', { detail: 'The body could not be decompressed.' });
  }
  // The database is away, has no connection to give, or gave up a statement or a lock after its timeout: that passes
  // without anyone's doing.
  const code = String(property(error, 'code'));
  const unavailable =
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|SQLITE_BUSY|08|57P|53|57014|55P03|25P03)/.test(code) ||
    /timeout exceeded when trying to connect|Connection terminated|not queryable/.test(
      String(property(error, 'message')),
    );
  return new ProblemError(
    unavailable ? 'NOT_READY' : 'INTERNAL',
    unavailable ? { headers: { 'Retry-After': '1' } } : {},
  );
}

const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
