import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

export interface Passing {
  method: string;
  path: string;
  /** Before the request reaches the server, after half of its body, or between the server's response and its delivery. */
  moment: 'before' | 'half' | 'after';
}

/** Cuts the connection, or responds with this status instead of the server. */
type Verdict = 'cut' | number | undefined;

export interface Gate extends AsyncDisposable {
  url: string;
  on: (call: Passing) => Promise<Verdict> | Verdict;
  /** Replace those of every response. */
  headers: Record<string, string>;
}

/** A fault-injecting proxy in front of `target`: `on` can act, delay or fail a call at an exact moment. */
export async function openGate(target: string | (() => string)): Promise<Gate> {
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the gate has no port');
  const gate: Gate = {
    url: `http://127.0.0.1:${address.port}`,
    on: () => undefined,
    headers: {},
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const body = await bytesOf(incoming);
    const isStopped = async (moment: Passing['moment']) => {
      const verdict = await gate.on({ method, path, moment });
      if (verdict === 'cut') outgoing.destroy();
      else if (verdict !== undefined) outgoing.writeHead(verdict, gate.headers).end();
      return verdict !== undefined;
    };
    if (await isStopped('before')) return;
    const upstream = request((typeof target === 'string' ? target : target()) + path, { method, headers });
    outgoing.once('close', () => upstream.destroy());
    upstream.on('error', () => outgoing.destroy());
    if (body.length > 1) {
      upstream.write(body.subarray(0, body.length / 2));
      if (await isStopped('half')) return void upstream.destroy();
    }
    upstream.end(body.subarray(body.length > 1 ? Math.floor(body.length / 2) : 0));
    const [answer]: IncomingMessage[] = await once(upstream, 'response');
    if (answer === undefined) return;
    const answered = await bytesOf(answer);
    if (await isStopped('after')) return;
    outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...gate.headers }).end(answered);
  }
  return gate;
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
