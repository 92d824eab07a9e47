import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, type TaskEnabledSession } from '@modelcontextprotocol/ext-tasks/client';
import { z } from 'zod';
import type { House } from '../../test/house.ts';
import { ABOUT, CURRENT } from './clients.ts';
import { currentRequest, post, TASKS } from './wire.ts';

const CAPABILITIES = { extensions: { [TASKS]: {} } };
const Request = z.object({ method: z.string(), params: z.record(z.string(), z.unknown()) });
const Answer = z.union([
  z.object({ result: z.json() }).transform(({ result }) => ({ kind: 'result' as const, result })),
  z
    .object({ error: z.object({ code: z.number(), message: z.string() }) })
    .transform(({ error }) => ({ kind: 'error' as const, error })),
]);

/** A client with task support. The SDK has none yet, so that the extension's package sends plain requests. */
export async function openTaskSession(house: House, key: string): Promise<TaskEnabledSession & AsyncDisposable> {
  const client = new Client(ABOUT, { versionNegotiation: { mode: 'auto' }, capabilities: CAPABILITIES });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${house.url}/mcp`), { requestInit }));
  const session = createTaskSessionFromClient(client, {
    endpointId: 'house',
    v2RequestFraming: { protocolVersion: CURRENT, clientInfo: ABOUT, clientCapabilities: CAPABILITIES },
    async rawDispatch(framed) {
      const { method, params } = Request.parse(framed);
      const answer = await post(house, key, currentRequest(method, params, CAPABILITIES));
      // The service suggests two seconds.
      const text = (await answer.text()).replace(/"pollIntervalMs":\d+/g, '"pollIntervalMs":20');
      return Answer.parse(JSON.parse(text));
    },
  });
  return Object.assign(session, {
    async [Symbol.asyncDispose]() {
      await session.close();
      await client.close();
    },
  });
}
