import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import type { Service } from '../service.ts';
import { seed } from './fuzz.ts';

const PARALLEL = 16;
/** The server closes a connection with a broken request at once. This ends those that wait for the rest of a request. */
const QUIET_MS = 50;

/** Returns the server errors that bytes which are almost requests got, with the bytes. */
export async function sendRubbish(service: Service, connections: number): Promise<string[]> {
  const faults: string[] = [];
  const queue = fc.sample(rubbish(service), { numRuns: connections, seed }).values();
  const sendAll = async () => {
    for (const bytes of queue) {
      const answer = await exchange(service.url, bytes);
      if (/^HTTP\/1\.1 5/m.test(answer)) faults.push(`${answer}\n  ${JSON.stringify(bytes.toString('latin1'))}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, sendAll));
  return faults;
}

/** Bytes that are almost a request, or several in a row. */
function rubbish({ url, key, projectId }: Service): fc.Arbitrary<Buffer> {
  const { host } = new URL(url);
  const head = `Host: ${host}\r\nAuthorization: Bearer ${key}\r\n`;
  const json = '{"name":"Rushes"}';
  const post = `POST /api/projects/${projectId}/folders HTTP/1.1\r\n${head}Content-Type: application/json\r\n`;
  const requests = [
    `GET /api/projects/${projectId} HTTP/1.1\r\n${head}\r\n`,
    `${post}Content-Length: ${json.length}\r\n\r\n${json}`,
    `${post}Transfer-Encoding: chunked\r\n\r\n11\r\n${json}\r\n0\r\n\r\n`,
    `${post}Content-Length: 99999\r\n\r\n${json}`,
    `${post}Expect: 100-continue\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    `GET /api/projects/${projectId}/events HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    `OPTIONS * HTTP/1.1\r\n${head}\r\n`,
    `GET http://other.example/api/ping HTTP/1.1\r\n${head}\r\n`,
  ].map((request) => Buffer.from(request));
  const request = fc.constantFrom(...requests);
  const place = fc.nat(1000);
  const at = (bytes: Buffer, where: number) => where % bytes.length;
  const flipped = fc.tuple(request, place, fc.nat(255)).map(([bytes, where, value]) => {
    const changed = Buffer.from(bytes);
    changed[at(bytes, where)] = value;
    return changed;
  });
  const cut = fc.tuple(request, place).map(([bytes, where]) => bytes.subarray(0, at(bytes, where)));
  const inserted = fc
    .tuple(request, place, fc.uint8Array({ maxLength: 20 }))
    .map(([bytes, where, more]) =>
      Buffer.concat([bytes.subarray(0, at(bytes, where)), more, bytes.subarray(at(bytes, where))]),
    );
  const pipelined = fc.array(fc.oneof(request, flipped, inserted), { minLength: 2, maxLength: 5 });
  const random = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  return fc.oneof(
    request,
    flipped,
    cut,
    inserted,
    pipelined.map((all) => Buffer.concat(all)),
    random,
  );
}

/** Sends bytes on a connection of their own and returns what came back until it is closed or quiet. */
async function exchange(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setEncoding('latin1').setTimeout(QUIET_MS, () => socket.destroy());
  // A reset is an answer too.
  socket.on('error', () => {});
  let answer = '';
  socket.on('data', (text: string) => {
    answer += text;
  });
  socket.write(bytes);
  await once(socket, 'close');
  return answer;
}
