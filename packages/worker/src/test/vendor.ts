import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export type Fault =
  | 'hang'
  | 'reset'
  | 'garbage'
  | 'html'
  | 'rate-limited'
  | 'rate-limited-told'
  | 'error'
  | 'unavailable'
  | 'auth'
  | 'balance'
  | 'moderated'
  | 'failed'
  | 'vanished'
  | 'expired'
  | 'empty'
  | 'double'
  | 'half'
  | 'trickle'
  | 'running';

export interface VendorCall {
  kind: 'submit' | 'poll' | 'content' | 'cancel' | 'lookUp';
  /** For a submit: before it is accepted, or after, before the answer. */
  moment: 'asked' | 'taken';
  order: Order;
  /** The count of calls of this kind for the file and stage, including this one. */
  count: number;
}

export interface Order {
  id: string;
  fileId: string;
  stage: string;
  clientJobId: string;
  outputType: string;
  outputModel: string;
  prompt: string;
  canceled: boolean;
  bytes: Buffer;
}

export interface Vendor extends AsyncDisposable {
  /** For TEST_PROVIDER_URL, the setting of e2e/vendor-worker.ts. */
  url: string;
  /** Every accepted, and so billed, submit. */
  orders: Order[];
  calls: { kind: VendorCall['kind']; fileId: string; at: number }[];
  /** Returns the fault of a call; a pending promise holds the call. */
  on: (call: VendorCall) => Promise<Fault | undefined> | Fault | undefined;
  /** The bytes of a result, apart from its magic bytes. */
  size: number;
  paidFor(fileId: string, stage?: string): number;
  hashOf(fileId: string): string[];
}

/** A result of this size is sent in one call, one of `LARGE` in parts. */
export const SMALL = 20_000;
export const LARGE = 300_000;
const RETRY_AFTER_SECONDS = 1;
const STATUS: Partial<Record<Fault, number>> = {
  'rate-limited': 429,
  'rate-limited-told': 429,
  error: 500,
  unavailable: 503,
  auth: 401,
  balance: 402,
  moderated: 422,
  vanished: 404,
  expired: 403,
};

/** A test provider that counts submits and fails as the test defines. */
export async function startVendor(timeoutMs = 1500): Promise<Vendor> {
  const orders: Order[] = [];
  const counts = new Map<string, number>();
  let ids = 0;

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the vendor has no port');
  const origin = `http://127.0.0.1:${address.port}`;

  const vendor: Vendor = {
    url: `${origin}/?timeout=${timeoutMs}`,
    orders,
    calls: [],
    on: () => undefined,
    size: SMALL,
    paidFor: (fileId, stage) =>
      orders.filter((order) => order.fileId === fileId && (stage === undefined || order.stage === stage)).length,
    hashOf: (fileId) =>
      orders
        .filter((order) => order.fileId === fileId)
        .map(({ bytes }) => createHash('sha256').update(bytes).digest('hex')),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  function faultIn(kind: VendorCall['kind'], order: Order, moment: VendorCall['moment'] = 'asked') {
    const key = `${kind} ${order.fileId} ${order.stage}`;
    if (moment === 'asked') {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      vendor.calls.push({ kind, fileId: order.fileId, at: performance.now() });
    }
    return vendor.on({ kind, moment, order, count: counts.get(key) ?? 0 });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin);
    const [, place, id] = pathname.split('/');
    if (request.method === 'POST')
      return takeOrder(newOrder(`job-${++ids}`, await bodyOf(request), vendor.size), response);
    if (searchParams.has('client')) {
      const found = orders.find(({ clientJobId }) => clientJobId === searchParams.get('client'));
      return answer(response, found && (await faultIn('lookUp', found)), { id: found?.id ?? null });
    }
    const order = orders.find((each) => each.id === id);
    if (order === undefined) return answer(response, 'vanished', {});
    if (request.method === 'DELETE') {
      order.canceled = true;
      return answer(response, await faultIn('cancel', order), {});
    }
    if (place === 'content') return sendContent(response, order, await faultIn('content', order));
    const fault = await faultIn('poll', order);
    const size = order.bytes.length;
    if (fault === 'running') return answer(response, undefined, { state: 'running', progress: 0.5 });
    if (fault === 'failed') return answer(response, undefined, { state: 'failed', reason: 'failed' });
    if (fault === 'moderated') return answer(response, undefined, { state: 'failed', reason: 'policy' });
    answer(response, fault, { state: 'succeeded', url: `${origin}/content/${order.id}`, size });
  }

  async function takeOrder(order: Order, response: ServerResponse): Promise<void> {
    const refusal = await faultIn('submit', order);
    if (refusal !== undefined) return answer(response, refusal, {});
    orders.push(order);
    const fault = await faultIn('submit', order, 'taken');
    const atOnce = order.outputType === 'DOCUMENT' || order.outputType === 'IMAGE';
    answer(response, fault, atOnce ? { content: order.bytes.toString('base64') } : { id: order.id });
  }

  return vendor;
}

function answer(response: ServerResponse, fault: Fault | undefined, body: object): void {
  if (fault === 'hang') return;
  if (fault === 'reset') return void response.destroy();
  if (fault === 'garbage') return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":');
  if (fault === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
  const told = fault === 'rate-limited-told' ? { 'retry-after': String(RETRY_AFTER_SECONDS) } : {};
  const status = fault === undefined ? 200 : (STATUS[fault] ?? 500);
  response.writeHead(status, { 'content-type': 'application/json', ...told }).end(JSON.stringify(body));
}

async function sendContent(response: ServerResponse, { bytes }: Order, fault: Fault | undefined): Promise<void> {
  if (fault === 'empty') return void response.end();
  if (fault === 'double') return void response.end(Buffer.concat([bytes, bytes]));
  if (fault === 'html') return void response.end('<h1>Hello</h1>'.padEnd(bytes.length));
  if (fault === 'garbage') return void response.end(Buffer.alloc(bytes.length, 7));
  if (fault === 'half') {
    response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    return;
  }
  if (fault === 'trickle') {
    for (let sent = 0; sent < bytes.length && !response.closed; sent++) {
      response.write(bytes.subarray(sent, sent + 1));
      await delay(100);
    }
    return void response.end();
  }
  if (fault !== undefined) return answer(response, fault, {});
  response.end(bytes);
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const bytes of request) text += String(bytes);
  return JSON.parse(text);
}

function newOrder(id: string, body: Record<string, unknown>, size: number): Order {
  const field = (name: string) => String(body[name]);
  const order = {
    id,
    fileId: field('fileId'),
    stage: field('stage'),
    clientJobId: field('clientJobId'),
    outputType: field('outputType'),
    outputModel: field('outputModel'),
    prompt: field('prompt'),
    canceled: false,
  };
  return { ...order, bytes: contentOf(order, size) };
}

/** Returns content with the magic bytes of the type, different for each submit. */
function contentOf({ id, fileId, outputType, outputModel }: Omit<Order, 'bytes'>, size: number): Buffer {
  const text = `${id} of ${fileId} `.padEnd(size, id);
  if (outputModel === 'markdown') return Buffer.from(`# ${text}`);
  if (outputType === 'DOCUMENT') return Buffer.from(`%PDF-1.7\n${text}`);
  if (outputType === 'IMAGE') return Buffer.concat([PNG, Buffer.from(text)]);
  if (outputType === 'VIDEO') return Buffer.concat([MP4, Buffer.from(text)]);
  const header = Buffer.from('glTF\u0002\0\0\0\0\0\0\0');
  header.writeUInt32LE(header.length + text.length, 8);
  return Buffer.concat([header, Buffer.from(text)]);
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const MP4 = Buffer.from('\0\0\0\u0018ftypisom\0\0\u0002\0isommp41', 'latin1');
