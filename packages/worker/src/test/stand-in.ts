import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WORKER_API_VERSION, WORKER_API_VERSION_HEADER } from '@review/contract';

export interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: unknown;
}

export interface StandIn extends AsyncDisposable {
  url: string;
  port: number;
  received: Received[];
}

/** A test server that records requests and answers by the number of the request. */
export async function standIn(answer: (response: ServerResponse, number: number) => void, port = 0): Promise<StandIn> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const bytes of request) body += String(bytes);
    const { method, url, headers } = request;
    received.push({ method, url, headers, body: JSON.parse(body) });
    answer(response, received.length);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers as a server with that version of the worker API. */
export const json = (response: ServerResponse, status: number, body: unknown, version = WORKER_API_VERSION) =>
  response
    .writeHead(status, {
      'content-type': status < 400 ? 'application/json' : 'application/problem+json',
      [WORKER_API_VERSION_HEADER]: version,
    })
    .end(JSON.stringify(body));
