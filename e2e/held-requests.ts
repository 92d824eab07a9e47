import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Passes requests on to the server; the answers to some never come back. */
export async function holdAnswers(
  server: string,
  path: RegExp,
  onHeld: (count: number) => void,
): Promise<AsyncDisposable & { url: string }> {
  let held = 0;
  const proxy = createServer(async (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const body = method === 'GET' ? undefined : await text(request);
    const { authorization = '', 'content-type': type = 'application/json' } = headers;
    try {
      const answer = await fetch(server + url, {
        method,
        headers: { authorization, 'content-type': type },
        ...(body !== undefined && { body }),
      });
      const content = await answer.text();
      if (path.test(url)) {
        held += 1;
        onHeld(held);
        return;
      }
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? type }).end(content);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
