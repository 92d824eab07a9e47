import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ProblemError } from '../request/problem.ts';

// Not imported, as in listen.ts.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Answers malformed HTTP, and headers that are too large or too slow, with a problem document and closes the connection.
 * Node's own answer is a bare status line.
 */
export function refuseBadRequests(server: Server): void {
  const newest = new WeakMap<Socket, ServerResponse>();
  server.prependListener('request', ({ socket }, response) => newest.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const response = newest.get(socket);
    // A second response must not follow a part of the first one.
    const isAnswering = response?.headersSent === true && !response.writableFinished;
    if (!socket.writable || isAnswering) socket.destroy();
    else socket.end(serialized(answerOf(problemOf(error))), () => socket.destroy());
  });
}

/** Refuses an HTTP/1.1 request without a Host header and returns true. Node's own refusal has no body. */
export function refuseWithoutHost({ headers, httpVersion }: IncomingMessage, response: ServerResponse): boolean {
  if (httpVersion !== '1.1' || headers.host !== undefined) return false;
  const { body, ...answer } = answerOf(
    new ProblemError('INVALID_REQUEST', { detail: 'The Host header is missing. HTTP/1.1 requires it.' }),
  );
  response.writeHead(answer.status, answer.headers).end(body);
  return true;
}

function problemOf({ code, message }: NodeJS.ErrnoException): ProblemError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ProblemError('HEADERS_TOO_LARGE');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ProblemError('BODY_TOO_LARGE');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ProblemError('REQUEST_TIMEOUT', { detail: 'The headers of the request did not arrive in time.' });
    default:
      return new ProblemError('INVALID_REQUEST', { detail: `The bytes are not an HTTP request. ${message}.` });
  }
}

function answerOf(problem: ProblemError) {
  const requestId = randomUUID();
  const body = JSON.stringify(problem.body('/', requestId));
  const headers = {
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    Connection: 'close',
  };
  return { status: problem.status, headers, body };
}

function serialized({ status, headers, body }: ReturnType<typeof answerOf>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}
