import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

export interface VendorRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
  /** The parsed JSON; undefined if the body is not JSON. */
  body: unknown;
  /** The count of requests with this method and path, including this one. */
  count: number;
}

/** An answer of the vendor: an object is sent as JSON, an iterable is streamed. */
export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: object | Buffer | string | AsyncIterable<string>;
}

/** Faults of the connection or of a proxy. */
export type Mishap = 'hang' | 'reset' | 'garbage' | 'html';

/** Replaces the vendor's answer if a test sets it. */
export type Interference = (request: VendorRequest) => Promise<Mishap | Reply | undefined> | Mishap | Reply | undefined;

export interface Order {
  id: string;
  /** The prompt, which identifies the submit. */
  prompt: string;
  stage: string;
  takenAt: number;
  canceled: boolean;
}

/** A test double of a vendor: validates like the vendor, counts submits, and fails as the test defines. */
export interface Double extends AsyncDisposable {
  /** Without a path. */
  url: string;
  requests: VendorRequest[];
  /** Every accepted, and so billed, submit. */
  orders: Order[];
  /** Called before the vendor handles a request. */
  before: Interference;
  /** Called after the vendor handled a request; replaces its answer. */
  after: Interference;
  /** Advances the vendor's clock, to test expiry. */
  now: () => number;
  take(order: Pick<Order, 'prompt'> & Partial<Order>): Order;
  paidFor(prompt: string, stage?: string): number;
}

/** Serves the answers that `answer` returns or throws. */
export async function startDouble(
  answer: (request: VendorRequest, double: Double) => Reply | Promise<Reply>,
): Promise<Double> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the double has no port');

  const double: Double = {
    url: `http://127.0.0.1:${address.port}`,
    requests: [],
    orders: [],
    before: () => undefined,
    after: () => undefined,
    now: Date.now,
    take(order) {
      const taken = {
        id: `job-${double.orders.length + 1}`,
        stage: 'submit',
        takenAt: double.now(),
        canceled: false,
        ...order,
      };
      double.orders.push(taken);
      return taken;
    },
    paidFor: (prompt, stage) =>
      double.orders.filter((order) => order.prompt === prompt && (stage === undefined || order.stage === stage)).length,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', double.url);
    const method = incoming.method ?? 'GET';
    const key = `${method} ${pathname}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const bytes = await bytesOf(incoming);
    const request: VendorRequest = {
      method,
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      bytes,
      body: parseJson(bytes),
      count: counts.get(key) ?? 1,
    };
    double.requests.push(request);
    const instead = await double.before(request);
    if (instead !== undefined) return send(response, instead);
    const reply = await answerOf(request);
    send(response, (await double.after(request)) ?? reply);
  }

  async function answerOf(request: VendorRequest): Promise<Reply> {
    try {
      return await answer(request, double);
    } catch (refusal) {
      if (refusal instanceof Refused) return refusal.reply;
      throw refusal;
    }
  }

  return double;
}

/** A refusal that a double throws. */
export class Refused extends Error {
  readonly reply: Reply;

  constructor(reply: Reply) {
    super('refused');
    this.reply = reply;
  }
}

function send(response: ServerResponse, reply: Mishap | Reply): void {
  if (reply === 'hang') return;
  if (reply === 'reset') return void response.destroy();
  if (reply === 'garbage') return void response.writeHead(200, JSON_TYPE).end('{"id":');
  if (reply === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
  const { status = 200, headers = {}, body = {} } = reply;
  if (typeof body === 'string' || Buffer.isBuffer(body)) return void response.writeHead(status, headers).end(body);
  if (isGradual(body)) {
    response.writeHead(status, headers);
    return void pipeline(body, response).catch(() => response.destroy());
  }
  response.writeHead(status, { ...JSON_TYPE, ...headers }).end(JSON.stringify(body));
}

const isGradual = (body: object): body is AsyncIterable<string> => Symbol.asyncIterator in body;

const JSON_TYPE = { 'content-type': 'application/json' };

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
