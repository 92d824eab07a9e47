import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Problem } from '@review/contract';
import fc from 'fast-check';
import type { Service } from '../service.ts';
import { seed } from './fuzz.ts';

const PARALLEL = 16;
const CONTINUE = 100;

/** Bytes of a request, and the statuses that they get. */
interface Sent {
  bytes: string;
  statuses: number[];
}

interface Conversation {
  requests: Sent[];
  /** The sizes of the writes, in turns: 1 is byte by byte. */
  writes: readonly number[];
  /** Whether the client ends its side behind the last byte, and still reads. */
  halfCloses: boolean;
}

/**
 * Sends requests in succession on each of so many connections, without waiting for answers and cut at any byte. Returns the
 * connections that did not get exactly the right answers in order.
 */
export async function sendPipelined(service: Service, connections: number): Promise<string[]> {
  const faults: string[] = [];
  const queue = fc.sample(conversations(service), { numRuns: connections, seed }).values();
  const sendAll = async () => {
    for (const conversation of queue) {
      const fault = await faultOf(service, conversation);
      if (fault !== null) faults.push(`${fault}\n  ${JSON.stringify(conversation)}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, sendAll));
  return faults;
}

function conversations({ url, key, projectId }: Service): fc.Arbitrary<Conversation> {
  const head = `Host: ${new URL(url).host}\r\nAuthorization: Bearer ${key}\r\n`;
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\n${head}${more}\r\n`;
  const json = '{"name":"Rushes"}';
  const size = json.length.toString(16);
  const post = (framing: string, body: string, type = 'application/json') =>
    `POST /api/projects/${projectId}/folders HTTP/1.1\r\n${head}Content-Type: ${type}\r\n${framing}\r\n\r\n${body}`;
  const lengthOf = (body: string) => `Content-Length: ${body.length}`;
  const chunked = 'Transfer-Encoding: chunked';

  const fine: Sent[] = [
    { bytes: get('/api/ping'), statuses: [200] },
    { bytes: get('/api/nothing'), statuses: [404] },
    { bytes: get(`/api/projects/${projectId}`), statuses: [200] },
    { bytes: post(lengthOf(json), json), statuses: [201] },
    { bytes: post(chunked, `${size}\r\n${json}\r\n0\r\n\r\n`), statuses: [201] },
    { bytes: post(chunked, `5;hint=x\r\n${json.slice(0, 5)}\r\nc\r\n${json.slice(5)}\r\n0\r\n\r\n`), statuses: [201] },
    { bytes: post(`Expect: 100-continue\r\n${lengthOf(json)}`, json), statuses: [201] },
    { bytes: post(lengthOf('{"name"'), '{"name"'), statuses: [400] },
    { bytes: post(lengthOf(json), json, 'text/plain'), statuses: [415] },
    { bytes: `\r\n${get('/api/ping')}`, statuses: [200] },
  ];
  /** The server closes the connection behind these. */
  const ends: Sent[] = [
    { bytes: get('/api/ping', 'Connection: close\r\n'), statuses: [200] },
    { bytes: 'nonsense\r\n\r\n', statuses: [400] },
    { bytes: get('/api/ping', 'no colon\r\n'), statuses: [400] },
    { bytes: post(`${lengthOf(json)}\r\n${chunked}`, `${size}\r\n${json}\r\n0\r\n\r\n`), statuses: [400] },
    { bytes: post(`${lengthOf(json)}\r\nContent-Length: 3`, json), statuses: [400] },
    { bytes: post('Content-Length: -1', json), statuses: [400] },
    { bytes: post(`Expect: 200-ok\r\n${lengthOf(json)}`, json), statuses: [400] },
    // The rest of a body that is longer than its length begins the next request.
    { bytes: post('Content-Length: 7', json), statuses: [400, 400] },
    { bytes: post(chunked, `zz\r\n${json}\r\n0\r\n\r\n`), statuses: [400] },
    { bytes: post(chunked, `${size}\r\n${json}nonsense`), statuses: [400] },
  ];
  return fc.record({
    requests: fc
      .tuple(fc.array(fc.constantFrom(...fine), { maxLength: 6 }), fc.constantFrom(...ends))
      .map(([before, end]) => [...before, end]),
    writes: fc.oneof(
      fc.constant([1]),
      fc.constant([1_000_000]),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 10 }),
    ),
    halfCloses: fc.boolean(),
  });
}

async function faultOf({ url }: Service, { requests, writes, halfCloses }: Conversation): Promise<string | null> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
  const received = text(socket).catch((error: unknown) => `no answer: ${error}`);
  const bytes = Buffer.from(requests.map((request) => request.bytes).join(''));
  for (let [at, turn] = [0, 0]; at < bytes.length && socket.writable; turn++) {
    const end = at + (writes[turn % writes.length] ?? 1);
    socket.write(bytes.subarray(at, end));
    at = end;
    await nextTurn();
  }
  if (halfCloses) socket.end();
  const all = await received;
  socket.destroy();
  const expected = requests.flatMap(({ statuses }) => statuses);
  const answers = parseAnswers(all);
  const statuses = answers?.map(({ status }) => status).filter((status) => status !== CONTINUE);
  // Node sends no further answers to a client that has ended its side.
  const due = halfCloses ? expected.slice(0, statuses?.length) : expected;
  if (answers === null || JSON.stringify(statuses) !== JSON.stringify(due))
    return `expected ${expected}, got ${statuses ?? 'no HTTP'}: ${JSON.stringify(all)}`;
  const unclear = answers.find(({ status, body }) => status >= 400 && !Problem.safeParse(parseJson(body)).success);
  return unclear === undefined ? null : `${unclear.status} without a problem document: ${unclear.body}`;
}

/** Returns the answers in order; null if the bytes are not a sequence of answers with a Content-Length. */
function parseAnswers(received: string): { status: number; body: string }[] | null {
  const answers = [];
  for (let rest = received; rest !== ''; ) {
    const head = /^HTTP\/1\.1 (\d{3}) .*?\r\n\r\n/s.exec(rest);
    if (head === null) return null;
    const status = Number(head[1]);
    const length = /\r\ncontent-length: (\d+)/i.exec(head[0])?.[1];
    if (length === undefined && status !== CONTINUE) return null;
    const end = head[0].length + Number(length ?? 0);
    answers.push({ status, body: rest.slice(head[0].length, end) });
    rest = rest.slice(end);
  }
  return answers;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
