import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type House, onEachDatabase } from '../test/house.ts';

const BODY = Buffer.alloc(5 * 1024 * 1024, ' ');

/** Sends headers and a whole body without waiting for the response, and returns the response. */
async function send(house: House, head: string[], body: Buffer = BODY): Promise<string> {
  const { hostname, port, host } = new URL(house.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const answer = text(socket);
  const length = head.some((line) => line.startsWith('Content-Length')) ? [] : [`Content-Length: ${body.length}`];
  socket.write(`${[...head, `Host: ${host}`, ...length].join('\r\n')}\r\n\r\n`);
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(body, () => resolve());
  });
  const whole = await answer;
  socket.destroy();
  return whole;
}

const statusIn = (answer: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);

/** Returns the problem of a response, which must be complete. */
function problemIn(answer: string): { code: string; status: number } {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(Number(/content-length: (\d+)/i.exec(head)?.[1])).toBe(Buffer.byteLength(body));
  const answered = JSON.parse(body);
  // The tools answer with a JSON-RPC error that contains the problem.
  return answered.error?.data ?? answered;
}

onEachDatabase(
  (house) => {
    const json = 'Content-Type: application/json';
    const close = 'Connection: close';
    const owner = () => `Authorization: Bearer ${house().people.owner.key}`;
    const folders = () => `POST /api/projects/${house().projectId}/folders HTTP/1.1`;

    test.each<[number, string, () => string[]]>([
      [401, 'a route', () => [folders(), json, 'Authorization: Bearer nonsense']],
      [401, 'the tools', () => ['POST /mcp HTTP/1.1', json, 'Authorization: Bearer nonsense']],
      [401, 'the workers', () => ['POST /worker/hello HTTP/1.1', json, 'Authorization: Bearer nonsense']],
      [403, 'the storage', () => ['PUT /blobs/parts/nothing/1?signature=nonsense HTTP/1.1']],
      [404, 'no route', () => ['POST /api/nothing HTTP/1.1', json, owner()]],
      [405, 'another method', () => ['PUT /api/ping HTTP/1.1', json, owner()]],
      [413, 'too large a body', () => [folders(), json, owner()]],
      [415, 'another content type', () => [folders(), 'Content-Type: text/plain', owner()]],
      [415, 'another encoding', () => [folders(), json, 'Content-Encoding: rot13', owner()]],
    ])(
      '%d by %s reaches a client that sends 5 MiB before it reads, and closes the connection',
      async (status, _, head) => {
        const answer = await send(house(), [...head(), close]);
        expect([statusIn(answer), problemIn(answer).status]).toEqual([status, status]);
      },
    );

    test('a body with a too large Content-Length is refused before it is sent', async () => {
      const head = [folders(), json, owner(), close, `Content-Length: ${1024 * 1024 + 1}`];
      const { hostname, port, host } = new URL(house().url);
      const socket = connect(Number(port), hostname);
      socket.write(`${[...head, `Host: ${host}`].join('\r\n')}\r\n\r\n`);
      const [chunk] = await new Promise<[Buffer]>((resolve) => socket.once('data', (...data) => resolve(data)));
      socket.destroy();
      expect(statusIn(String(chunk))).toBe(413);
    });

    test('a chunked body without an end is refused at the limit', async () => {
      const { hostname, port, host } = new URL(house().url);
      const socket = connect(Number(port), hostname);
      const head = [folders(), json, owner(), close, 'Transfer-Encoding: chunked', `Host: ${host}`];
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      const size = 1024 * 1024 + 1;
      socket.write(`${size.toString(16)}\r\n${' '.repeat(size)}\r\n`);
      const [chunk] = await new Promise<[Buffer]>((resolve) => socket.once('data', (...data) => resolve(data)));
      socket.destroy();
      expect(statusIn(String(chunk))).toBe(413);
    });

    test('the same connection serves the next request after a refusal', async () => {
      const next = [`GET /api/ping HTTP/1.1\r\nHost: x\r\n${owner()}\r\nConnection: close\r\n\r\n`];
      const answer = await send(
        house(),
        [folders(), json, 'Authorization: Bearer nonsense', `Content-Length: ${BODY.length}`],
        Buffer.concat([BODY, ...next.map((each) => Buffer.from(each))]),
      );
      expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
    });
  },
  { RATE_LIMITS: 'off' },
);
