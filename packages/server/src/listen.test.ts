import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Problem } from '@review/contract';
import express from 'express';
import { expect, test, vi } from 'vitest';
import { BODY_LIMITS } from './http/body-timeout.ts';
import { listen } from './listen.ts';
import { onEachDatabase } from './test/house.ts';

const LISTENING = 'tracing:net.server.listen:asyncEnd';
const UNTIL_BODY = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';

function expectProblem(answer: string, status: number, code: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/^content-type: application\/problem\+json/im);
  expect(head).toMatch(/^connection: close$/im);
  const problem = Problem.parse(JSON.parse(body));
  expect(problem).toMatchObject({ status, code, instance: '/' });
  expect(head.toLowerCase()).toContain(`x-request-id: ${problem.requestId}`);
}

onEachDatabase((house) => {
  /** Returns the response to these bytes before the server closes the connection. */
  async function sayTo(bytes: string): Promise<string> {
    const { hostname, port } = new URL(house().url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (part: Buffer) => {
      answer += part.toString();
    });
    socket.on('error', () => {});
    socket.end(bytes);
    await once(socket, 'close');
    return answer;
  }

  test.each([
    ['garbage', 'garbage\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['an unknown method', 'NONSENSE / HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a huge header', `GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a host with a bracket', 'GET http://a]b/api/ping HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a host that is encoded', 'GET http://%41/healthz HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 200 /],
    ['a URL instead of a path', 'GET http://x/healthz?a=b HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 200 /],
    ['a URL of another protocol', 'GET ftp://x/healthz HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a fragment', 'GET //%@a#x HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a path that looks like a host', 'GET //%@a HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 404 /],
    ['a path that is not ASCII', 'GET /à HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['no resource', 'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n', /^HTTP\/1\.1 404 /],
    [
      'two lengths',
      'POST /api/projects HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      /^HTTP\/1\.1 400 /,
    ],
    ['garbage behind a good request', 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\ngarbage\r\n\r\n', /^HTTP\/1\.1 200 /],
    [
      'two requests at once',
      'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2),
      /^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 /,
    ],
  ])('malformed HTTP is refused and the server keeps running: %s', async (_, bytes, expected) => {
    expect(await sayTo(bytes)).toMatch(expected);
    expect((await house().request(null, 'GET', '/healthz')).status).toBe(200);
  });

  test.each([
    ['garbage', 'garbage\r\n\r\n', 400, 'INVALID_REQUEST'],
    ['a chunk of no size', `${UNTIL_BODY}zz\r\n`, 400, 'INVALID_REQUEST'],
    ['a huge chunk extension', `${UNTIL_BODY}1;${'a'.repeat(20_000)}\r\n`, 413, 'BODY_TOO_LARGE'],
    ['a huge header', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'INVALID_REQUEST'],
    ['no URL', 'GET http://a]b/ HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'INVALID_REQUEST'],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nhost: x\r\nexpect: 200-ok\r\n\r\n', 400, 'INVALID_REQUEST'],
  ])('it is answered with a problem document: %s', async (_, bytes, status, code) => {
    const app = express().post('/', () => {});
    const listening = await listen(app, { host: '127.0.0.1', port: 0 }, 1);
    const socket = connect(listening.port, '127.0.0.1');
    socket.write(bytes);
    expectProblem(await text(socket), status, code);
    await listening[Symbol.asyncDispose]();
  });

  test('headers that do not arrive in time are 408 with a problem document', async () => {
    const listening = await listen(express(), { host: '127.0.0.1', port: 0 }, 1, BODY_LIMITS, 200);
    const socket = connect(listening.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n');
    expectProblem(await text(socket), 408, 'REQUEST_TIMEOUT');
    await listening[Symbol.asyncDispose]();
  });

  test('a body that ends before its length is refused', async () => {
    const app = express().post('/', () => {});
    const listening = await listen(app, { host: '127.0.0.1', port: 0 }, 1);
    const socket = connect({ port: listening.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nshort');
    expectProblem(await text(socket), 400, 'INVALID_REQUEST');
    await listening[Symbol.asyncDispose]();
  });

  test.each([
    ['the next request', 'garbage\r\n\r\n'],
    ['the body of the next request', `${UNTIL_BODY}zz\r\n`],
  ])('requests before malformed bytes in %s get their responses first', async (_, malformed) => {
    const asked = Promise.withResolvers<() => void>();
    const app = express().get('/', (_request, response) => asked.resolve(() => response.end('first')));
    const listening = await listen(
      app.post('/', () => {}),
      { host: '127.0.0.1', port: 0 },
      1,
    );
    const socket = connect(listening.port, '127.0.0.1');
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\n\r\n${malformed}`);
    const respond = await asked.promise;
    await nextTurn();
    respond();
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*first/);
    expectProblem(answer.slice(answer.indexOf('HTTP/1.1 400')), 400, 'INVALID_REQUEST');
    await listening[Symbol.asyncDispose]();
  });

  test('malformed bytes after a request close the connection without a second response if the first has begun', async () => {
    const app = express().post('/', (_request, response) => void response.write('begun'));
    const listening = await listen(app, { host: '127.0.0.1', port: 0 }, 1);
    const socket = connect(listening.port, '127.0.0.1');
    socket.write(UNTIL_BODY);
    const [begun]: Buffer[] = await once(socket, 'data');
    expect(begun?.toString()).toContain('begun');
    socket.write('zz\r\n');
    expect(await text(socket)).toBe('');
    await listening[Symbol.asyncDispose]();
  });

  test('an idle connection is kept longer than the 60 s of a proxy, and does not delay a stop', async () => {
    const app = express().get('/', (_request, response) => void response.end());
    const listening = await listen(app, { host: '127.0.0.1', port: 0 }, 10);
    const socket = connect(listening.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const [answer]: Buffer[] = await once(socket, 'data');
    expect(answer?.toString()).toContain('Keep-Alive: timeout=75');
    const closed = once(socket, 'close');
    const stopping = performance.now();
    await listening[Symbol.asyncDispose]();
    await closed;
    expect(performance.now() - stopping).toBeLessThan(5000);
  });

  test('connections in the backlog before the stop are answered', async () => {
    const app = express().post('/', (_request, response) => void response.end('done'));
    const listening = await listen(app, { host: '127.0.0.1', port: 0 }, 10);
    const answers = Array.from({ length: 20 }, async () => {
      const socket = connect(listening.port, '127.0.0.1');
      let answer = '';
      socket.on('data', (part: Buffer) => {
        answer += part.toString();
      });
      socket.on('error', () => {});
      socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n');
      await once(socket, 'close');
      return answer.slice(0, 15);
    });
    await listening[Symbol.asyncDispose]();
    expect(await Promise.all(answers)).toEqual(Array(20).fill('HTTP/1.1 200 OK'));
  });

  test('connections that the system does not accept are logged, at most once a second, and others are served', async () => {
    const { promise: server, resolve } = Promise.withResolvers<Server>();
    const resolveServer = (message: unknown) => {
      const isOfServer = typeof message === 'object' && message !== null && 'server' in message;
      if (isOfServer && message.server instanceof Server) resolve(message.server);
    };
    subscribe(LISTENING, resolveServer);
    const log = { warn: vi.fn() };
    const app = express().get('/', (_request, response) => void response.end());
    const listening = await listen(Object.assign(app, { log }), { host: '127.0.0.1', port: 0 }, 1);
    for (let times = 0; times < 3; times++) (await server).emit('error', new Error('accept ENOBUFS'));
    unsubscribe(LISTENING, resolveServer);
    expect(log.warn.mock.calls).toEqual([
      [{ err: expect.objectContaining({ message: 'accept ENOBUFS' }) }, 'a connection could not be accepted'],
    ]);
    expect((await fetch(`http://127.0.0.1:${listening.port}/`)).status).toBe(200);
    await listening[Symbol.asyncDispose]();
  });

  test('a body shorter than its Content-Length is not logged as an error', async () => {
    const { key } = house().people.owner;
    const head = `POST /api/projects HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
    await sayTo(`${head}content-length: 100\r\n\r\n{"name":`);
    const { data } = await house().people.owner.client.projects.list({ body: {} });
    expect(data).toHaveLength(1);
  });
});
