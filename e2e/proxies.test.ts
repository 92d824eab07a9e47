import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { PROXIES, startProxy } from './proxies.ts';

/** A server with a healthy readiness probe that responds to all other requests with this status. */
async function answering(status: number) {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/healthz' || request.url === '/readyz' ? 200 : status).end(`own ${status}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readThrough(url: string, times: number): Promise<string[]> {
  const answers: string[] = [];
  for (let count = 0; count < times; count += 1) {
    const answer = await fetch(`${url}/api/ping`);
    answers.push(`${answer.status} ${await answer.text()}`);
  }
  return answers;
}

describe.each(PROXIES)('behind $name', (kind) => {
  test('responses pass through when every server returns 503', async () => {
    await using first = await answering(503);
    await using second = await answering(503);
    await using proxy = await startProxy(kind, [first.port, second.port]);
    expect(await readThrough(proxy.url, 10)).toEqual(Array(10).fill('503 own 503'));
  });
});

describe.each(PROXIES.filter(({ name }) => name === 'nginx'))('behind $name', (kind) => {
  test('the other server handles reads that one server rejects with 503', async () => {
    await using first = await answering(503);
    await using second = await answering(200);
    await using proxy = await startProxy(kind, [first.port, second.port]);
    expect(await readThrough(proxy.url, 10)).toEqual(Array(10).fill('200 own 200'));
  });
});
