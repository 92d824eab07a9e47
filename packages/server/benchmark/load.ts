import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A request as bytes, so that the load costs the machine as little as possible. */
export function requestBytes(method: string, path: string, headers: Record<string, string>, body?: unknown): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const content = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  const all = { Host: '127.0.0.1', ...headers, ...(body !== undefined && content) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`);
}

export const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

const HEAD_END = '\r\n\r\n';

/** A keep-alive connection with one request at a time. */
class Connection {
  readonly #socket: Socket;
  #received: Buffer[] = [];
  #missing: number | null = null;
  #pending: PromiseWithResolvers<Buffer> | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.#pending?.reject(error));
    socket.on('close', () => this.#pending?.reject(new Error('the server closed the connection')));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  send(request: Buffer): Promise<Buffer> {
    this.#pending = Promise.withResolvers<Buffer>();
    this.#socket.write(request);
    return this.#pending.promise;
  }

  #read(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#missing = this.#missing === null ? this.#missingAfterHead() : this.#missing - chunk.length;
    if (this.#missing !== 0) return;
    const answer = this.#received.length === 1 ? chunk : Buffer.concat(this.#received);
    this.#received = [];
    this.#missing = null;
    const isSuccess = answer.subarray(9, 10).toString() === '2';
    if (isSuccess) this.#pending?.resolve(answer);
    else this.#pending?.reject(new Error(`the server returned ${answer.toString('utf8', 0, 500)}`));
  }

  /** Returns the bytes of the body that have not arrived; null while the head is incomplete. */
  #missingAfterHead(): number | null {
    const answer = Buffer.concat(this.#received);
    const end = answer.indexOf(HEAD_END);
    if (end < 0) return null;
    const length = /\r\ncontent-length: (\d+)/i.exec(answer.toString('latin1', 0, end))?.[1];
    if (length === undefined) {
      this.#pending?.reject(new Error('the response has no Content-Length'));
      return null;
    }
    return end + HEAD_END.length + Number(length) - answer.length;
  }

  /** A server may close a connection that idles while another server is measured. */
  get isClosed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Open connections to one server. */
export class Connections implements Disposable {
  readonly #port: number;
  #all: Connection[];

  private constructor(port: number, all: Connection[]) {
    this.#port = port;
    this.#all = all;
  }

  static async open(port: number, count: number): Promise<Connections> {
    return new Connections(port, await Promise.all(Array.from({ length: count }, () => Connection.open(port))));
  }

  /** Sends that many requests, in turn, over some of the connections. Returns the milliseconds that each took, sorted. */
  async send(requests: readonly Buffer[], count: number, connections = this.#all.length): Promise<number[]> {
    const reopened = this.#all.map((connection) => (connection.isClosed ? Connection.open(this.#port) : connection));
    this.#all = await Promise.all(reopened);
    const latencies: number[] = [];
    let sent = 0;
    const work = async (connection: Connection) => {
      while (sent < count) {
        const request = requests[sent++ % requests.length];
        if (request === undefined) throw new Error('there is no request to send');
        const started = performance.now();
        await connection.send(request);
        latencies.push(performance.now() - started);
      }
    };
    await Promise.all(this.#all.slice(0, connections).map(work));
    return latencies.sort((a, b) => a - b);
  }

  /** Returns the parsed body of the response to one request. */
  async read(request: Buffer): Promise<unknown> {
    const [connection] = this.#all;
    if (connection === undefined) throw new Error('no connection is open');
    const answer = await connection.send(request);
    return JSON.parse(answer.toString('utf8', answer.indexOf(HEAD_END) + HEAD_END.length));
  }

  [Symbol.dispose](): void {
    for (const connection of this.#all) connection.close();
  }
}

/** The value below which that share of the sorted numbers lies. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
