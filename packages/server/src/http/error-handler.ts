import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import type { Deps } from '../deps.ts';
import { ProblemError } from '../request/problem.ts';
import { StorageFull, StorageUnavailable } from '../storage/storage.ts';
import { NotModified } from './conditional.ts';
import { endAfterBody } from './end-after-body.ts';

export const notFound: RequestHandler = () => {
  throw new ProblemError('NOT_FOUND');
};

/** How a problem is written into an answer. */
type Writing = (problem: ProblemError, request: Request, requestId: string) => { type: string; body: object };

const asDocument: Writing = (problem, request, requestId) => ({
  type: 'application/problem+json',
  body: problem.body(request.path, requestId),
});

/** Every failure becomes an answer here, and only here. */
export function errorHandler({ log }: Pick<Deps, 'log'>, writing: Writing = asDocument): ErrorRequestHandler {
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
      if (!response.writableEnded) next(error);
      return;
    }
    const { type, body } = writing(problem, request, requestId);
    response.status(problem.status).set(problem.headers).type(`${type}; charset=utf-8`);
    endAfterBody(request, response, JSON.stringify(body)).catch(next);
  };
}

/** What the caller is told of a failure: nothing of its inside. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof StorageFull) return new ProblemError('STORAGE_FULL');
  if (error instanceof StorageUnavailable) return new ProblemError('NOT_READY', { headers: { 'Retry-After': '1' } });
  if (error instanceof URIError) return new ProblemError('NOT_FOUND');
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
