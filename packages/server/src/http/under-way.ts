import type { Server, ServerResponse } from 'node:http';

/** The responses that are not complete, in the order of their requests. */
export type UnderWay = ReadonlySet<ServerResponse>;

export function responsesUnderWay(server: Server): UnderWay {
  const underWay = new Set<ServerResponse>();
  server.prependListener('request', (_request, response) => {
    underWay.add(response);
    response.on('close', () => underWay.delete(response));
  });
  return underWay;
}
