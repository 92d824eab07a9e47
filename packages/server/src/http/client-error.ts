import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ProblemError } from '../request/problem.ts';
import { endAfterBody } from './end-after-body.ts';
import type { UnderWay } from './under-way.ts';

// Not imported, as in listen.ts.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const MAX_REST_MS = 2000;
/** Other characters have to be percent-encoded, and a fragment is not sent. */
const PATH = /^\/[!"$-~]*$/;

/**
 * Answers malformed HTTP, and headers that are too large or too slow, with a problem document and closes the connection.
 * Node's own answer is a bare status line.
 */
export function refuseBadRequests(server: Server, underWay: UnderWay): void {
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const detail = 'The Expect header may only be 100-continue.';
    send(request, response, new ProblemError('INVALID_REQUEST', { detail }));
  });
  const refused = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Every further chunk of the connection is an error again.
    if (refused.has(socket)) return;
    refused.add(socket);
    const responses = [...underWay].filter(({ req }) => req.socket === socket);
    // The body of this request is broken; without one, the bytes behind the last request are.
    const broken = responses.at(-1)?.req.complete === false ? responses.pop() : undefined;
    const refuse = () => {
      // A second response must not follow a part of the first one.
      const answer = broken?.headersSent ? '' : serialized(answerOf(problemOf(error)));
      if (socket.writable) endAfterRest(socket, answer);
      else socket.destroy();
    };
    // Pipelined requests get their responses first.
    const before = responses.at(-1);
    if (before === undefined) refuse();
    else before.once('close', refuse);
  });
}

/** Refuses an HTTP/1.1 request without a Host header and returns true. Node's own refusal has no body. */
export function refuseWithoutHost(request: IncomingMessage, response: ServerResponse): boolean {
  const { headers, httpVersion } = request;
  if (httpVersion !== '1.1' || headers.host !== undefined) return false;
  const detail = 'The Host header is missing. HTTP/1.1 requires it.';
  send(request, response, new ProblemError('INVALID_REQUEST', { detail }));
  return true;
}

/**
 * Refuses an address that is neither a path nor a URL and returns true. Of a URL, which only proxies send, the path is kept. All
 * others are left to a parser of Express that throws for some, each time that the path is read.
 */
export function refuseBadAddress(request: IncomingMessage, response: ServerResponse): boolean {
  const { url = '/' } = request;
  if (PATH.test(url) || url === '*') return false;
  const address = /^https?:/i.test(url) ? URL.parse(url) : null;
  if (address === null) {
    const detail =
      'The address of the request is neither a path nor a URL of HTTP. Percent-encode characters outside of ASCII, and leave out the fragment.';
    send(request, response, new ProblemError('INVALID_REQUEST', { detail }));
    return true;
  }
  request.url = address.pathname + address.search;
  return false;
}

function send(request: IncomingMessage, response: ServerResponse, problem: ProblemError): void {
  const { status, headers, body } = answerOf(problem);
  response.statusCode = status;
  response.setHeaders(new Map(Object.entries(headers)));
  void endAfterBody(request, response, body);
}

/** Sends the answer, and discards what the client still sends: a connection that is closed meanwhile is reset, and loses the answer. */
function endAfterRest(socket: Socket, answer: string): void {
  socket.end(answer);
  const timer = setTimeout(() => socket.destroy(), MAX_REST_MS);
  socket.once('close', () => clearTimeout(timer));
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
