import type { Server, ServerResponse } from 'node:http';

/**
 * Gives a function that makes every answer from then on, and those under way, ask for its connection to be closed. A proxy
 * then keeps no idle connection on which it could send a request just as the server closes it.
 */
export function drainable(server: Server): () => void {
  const underWay = new Set<ServerResponse>();
  let isDraining = false;
  const askToClose = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  server.prependListener('request', (_request, response) => {
    if (isDraining) return askToClose(response);
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
  });
  return () => {
    isDraining = true;
    for (const response of underWay) askToClose(response);
  };
}
