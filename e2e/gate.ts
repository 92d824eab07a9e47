import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

export interface Passing {
  method: string;
  path: string;
  /** Before the server hears of it; half way through its body; after the server has done it, before the answer. */
  moment: 'before' | 'half' | 'after';
}

export interface Gate extends AsyncDisposable {
  url: string;
  /** `cut` breaks the connection off at that moment. */
  on: (call: Passing) => Promise<'cut' | undefined> | 'cut' | undefined;
}

/** Stands between a caller and the server, so that a test can act at an exact moment. */
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
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const body = await bytesOf(incoming);
    const isCut = async (moment: Passing['moment']) => (await gate.on({ method, path, moment })) === 'cut';
    if (await isCut('before')) return void outgoing.destroy();
    const upstream = request((typeof target === 'string' ? target : target()) + path, { method, headers });
    outgoing.once('close', () => upstream.destroy());
    upstream.on('error', () => outgoing.destroy());
    if (body.length > 1) {
      upstream.write(body.subarray(0, body.length / 2));
      if (await isCut('half')) return void [upstream, outgoing].forEach((side) => void side.destroy());
    }
    upstream.end(body.subarray(body.length > 1 ? Math.floor(body.length / 2) : 0));
    const [answer]: IncomingMessage[] = await once(upstream, 'response');
    if (answer === undefined) return;
    const answered = await bytesOf(answer);
    if (await isCut('after')) return void outgoing.destroy();
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(answered);
  }
  return gate;
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
