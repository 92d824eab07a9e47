import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A free TCP port of this host. It lies below the range from which systems number outgoing connections, so that none takes it
 * before the server under test does, or while that server is down.
 */
export async function freePort(): Promise<string> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return String(port);
  }
}

/** Refuses connections: the port is assigned to a protocol that nothing uses. Another process could take a free port meanwhile. */
export const REFUSING_ADDRESS = 'http://127.0.0.1:2';
