import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface StandIn extends AsyncDisposable {
  url: string;
  received: Received[];
}

/** A server that notes what it is asked and answers what the test says. */
export async function standIn(answer: Answer | ((request: Received) => Answer)): Promise<StandIn> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const bytes of request) body += String(bytes);
    const noted = { method: request.method, url: request.url, headers: request.headers, body };
    received.push(noted);
    const { status, headers = {}, body: text } = typeof answer === 'function' ? answer(noted) : answer;
    response.writeHead(status, headers).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});
