import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import type { Deps } from '../deps.ts';
import { ProblemError } from '../request/problem.ts';
import { StorageFull, StorageUnavailable } from '../storage/storage.ts';
import { NotModified } from './conditional.ts';
import { endAfterBody } from './end-after-body.ts';

export const notFound: RequestHandler = () => {
  throw new ProblemError('NOT_FOUND');
};

/** Serializes a problem into a response body. */
type ProblemSerializer = (problem: ProblemError, request: Request, requestId: string) => { type: string; body: object };

const asDocument: ProblemSerializer = (problem, request, requestId) => ({
  type: 'application/problem+json',
  body: problem.body(request.path, requestId),
});

/** The only place that turns an error into a response. */
export function errorHandler(
  { log }: Pick<Deps, 'log'>,
  serialize: ProblemSerializer = asDocument,
): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (error instanceof NotModified) {
      response.status(304).end();
      return;
    }
    const problem = asProblem(error);
    const requestId = response.locals.requestId ?? '';
    // Reading the body of a disconnected client fails with this error.
    const disconnected = error === request.errored;
    if (problem.status >= 500 && !disconnected) {
      // A problem that the code throws is a refusal, not a fault: the server is stopping or has a maximum of open streams.
      const level = error instanceof ProblemError ? 'warn' : 'error';
      log[level]({ err: error, requestId, operation: response.locals.operation }, 'request failed');
    }
    if (response.headersSent) {
      // Express closes the connection, so that the client does not take a part of the response for all of it.
      if (!response.writableEnded) next(error);
      return;
    }
    response.locals.problem = problem.code;
    const { type, body } = serialize(problem, request, requestId);
    response.status(problem.status).set(problem.headers).type(`${type}; charset=utf-8`);
    endAfterBody(request, response, JSON.stringify(body)).catch(next);
  };
}

/** Maps any error to a problem without internal details. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof StorageFull) return new ProblemError('STORAGE_FULL');
  if (error instanceof StorageUnavailable) return new ProblemError('NOT_READY', { headers: { 'Retry-After': '1' } });
  if (error instanceof URIError) return new ProblemError('NOT_FOUND');
  // Transient: the database is unreachable, has no free connection, or canceled a statement or a lock after its timeout.
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
