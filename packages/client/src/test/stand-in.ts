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

/** An answer, a connection that breaks instead, or nothing at all. */
export type Outcome = Answer | 'reset' | 'silence';

/** A test server that records requests and answers as the test defines. */
export async function standIn(outcome: Outcome | ((request: Received) => Outcome)): Promise<StandIn> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const bytes of request) body += String(bytes);
    const noted = { method: request.method, url: request.url, headers: request.headers, body };
    received.push(noted);
    const answer = typeof outcome === 'function' ? outcome(noted) : outcome;
    if (answer === 'silence') return;
    if (answer === 'reset') return void request.socket.resetAndDestroy();
    const { status, headers = {}, body: text } = answer;
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

/** Answers with the outcomes in order; the last one repeats. */
export function inTurn(...outcomes: [Outcome, ...Outcome[]]): () => Outcome {
  const left = [...outcomes];
  const [first] = outcomes;
  let latest: Outcome = first;
  return () => {
    latest = left.shift() ?? latest;
    return latest;
  };
}

/** A problem document of the service. */
export const refused = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  json(
    status,
    { type: '/problems/x', title: 'x', status, code, detail: 'Not now.', instance: '/', requestId: 'abc' },
    { 'content-type': 'application/problem+json', ...headers },
  );

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});
