import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';

export interface VendorRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  bytes: Buffer;
  /** What the JSON says; undefined where it is none. */
  body: unknown;
  /** How often this method and path were asked for, this time included. */
  count: number;
}

/** An answer in the vendor's own form: an object is sent as JSON, what comes bit by bit as it comes. */
export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: object | Buffer | string | AsyncIterable<string>;
}

/** What can go wrong on any line, whoever is at its end. */
export type Mishap = 'hang' | 'reset' | 'garbage' | 'html';

/** What is done in place of, or instead of answering, what the vendor would: nothing, unless a test says so. */
export type Interference = (request: VendorRequest) => Promise<Mishap | Reply | undefined> | Mishap | Reply | undefined;

export interface Order {
  id: string;
  /** The prompt, which tells whose order it is. */
  prompt: string;
  stage: string;
  takenAt: number;
  canceled: boolean;
}

/** A vendor on this host: it refuses what the vendor refuses, counts what is ordered, and misbehaves as told. */
export interface Double extends AsyncDisposable {
  /** Without a path. */
  url: string;
  requests: VendorRequest[];
  /** Every order that was taken, and so paid. */
  orders: Order[];
  /** Before the vendor looks at a request. */
  before: Interference;
  /** After it did what was asked, in place of its answer. */
  after: Interference;
  /** Moves the vendor's clock, for what expires. */
  now: () => number;
  take(order: Pick<Order, 'prompt'> & Partial<Order>): Order;
  paidFor(prompt: string, stage?: string): number;
}

/** Serves what `answer` gives; an answer that it throws counts as well. */
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

/** Thrown where a vendor refuses. */
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
