import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy to a local server whose connections can be cut and restored. */
export interface Wire extends AsyncDisposable {
  /** The same address through this proxy. */
  url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Stops forwarding but keeps connections open, as a lost host or a stalled database does. */
  stall(): void;
  resume(): void;
}

export async function wireTo(address: string): Promise<Wire> {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let isStalled = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
      if (isStalled) socket.pause();
    }
  });
  const listenOn = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listenOn(0);
  const here = server.address();
  const port = typeof here === 'object' && here !== null ? here.port : 0;
  const url = new URL(address);
  url.host = `127.0.0.1:${port}`;

  const cut = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: url.href,
    cut,
    mend: () => listenOn(port),
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      isStalled = false;
      for (const socket of sockets) socket.resume();
    },
    [Symbol.asyncDispose]: cut,
  };
}
