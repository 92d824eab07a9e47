import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import {
  isJSONRPCRequest,
  isJSONRPCResponse,
  PROTOCOL_VERSION_META_KEY,
  parseJSONRPCMessage,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/**
 * Proxies MCP messages between standard input and output and a running server, for clients that start a program. Nothing
 * else may be written to standard output.
 */
export async function proxyTools(server: { url: string; token: string }): Promise<void> {
  const here = new StdioServerTransport();
  const ended = new Promise<void>((resolve) => {
    here.onclose = resolve;
  });
  const underWay = new Map<unknown, AbortController>();
  let agreedVersion: string | undefined;

  async function forward(message: JSONRPCMessage, signal: AbortSignal): Promise<void> {
    const answer = await fetch(`${server.url.replace(/\/+$/, '')}/mcp`, {
      method: 'POST',
      headers: { ...headersOf(message, agreedVersion), authorization: `Bearer ${server.token}` },
      body: JSON.stringify(message),
      signal,
    });
    let answered = !isJSONRPCRequest(message);
    for await (const text of messagesIn(answer)) {
      const received = parseJSONRPCMessage(JSON.parse(text));
      // The response to the handshake contains the protocol version of all later requests.
      agreedVersion = Handshake.safeParse(received).data?.result.protocolVersion ?? agreedVersion;
      answered ||= isJSONRPCResponse(received);
      await here.send(received);
    }
    if (!answered) throw new Error('the connection closed before the response');
  }

  here.onmessage = (message) => {
    const canceled = Cancellation.safeParse(message).data?.params.requestId;
    // Closing the connection cancels the request on the server.
    if (canceled !== undefined) underWay.get(canceled)?.abort();
    const stop = new AbortController();
    const id = isJSONRPCRequest(message) ? message.id : undefined;
    if (id !== undefined) underWay.set(id, stop);
    forward(message, stop.signal)
      .catch(async (error: unknown) => {
        if (id !== undefined && !stop.signal.aborted) await here.send({ jsonrpc: '2.0', id, error: explain(error) });
      })
      .finally(() => underWay.delete(id));
  };
  await here.start();
  await ended;
  for (const stop of underWay.values()) stop.abort();
}

const Handshake = z.object({ result: z.object({ protocolVersion: z.string(), serverInfo: z.object({}) }) });
const Cancellation = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});
const Request = z.object({
  method: z.string(),
  params: z
    .object({
      name: z.string().optional(),
      uri: z.string().optional(),
      taskId: z.string().optional(),
      _meta: z.object({ [PROTOCOL_VERSION_META_KEY]: z.string().optional() }).optional(),
    })
    .optional(),
});

/** Returns the headers of a message. They repeat fields of it, so that proxies do not have to read bodies. */
function headersOf(message: JSONRPCMessage, agreedVersion: string | undefined): Record<string, string> {
  const { method = '', params } = Request.safeParse(message).data ?? {};
  const named = params?._meta?.[PROTOCOL_VERSION_META_KEY];
  const version = named ?? agreedVersion;
  const subject = params?.taskId ?? params?.uri ?? params?.name;
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(version !== undefined && { 'mcp-protocol-version': version }),
    ...(named !== undefined && { 'mcp-method': method }),
    ...(named !== undefined && subject !== undefined && { 'mcp-name': headerText(subject) }),
  };
}

const headerText = (text: string) =>
  /^[\x20-\x7e]*$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** Yields the messages of a response: one JSON body, or the events of a stream as they arrive. */
async function* messagesIn(answer: Response): AsyncGenerator<string> {
  if (answer.status === 202) return;
  const type = answer.headers.get('content-type') ?? '';
  if (!answer.ok) {
    const { error } = Refusal.safeParse(await answer.json().catch(() => null)).data ?? {};
    throw new ServerRefusal(error ?? { code: -32603, message: `The server answered ${answer.status}.` });
  }
  if (!/^text\/event-stream\b/.test(type) || answer.body === null) {
    yield await answer.text();
    return;
  }
  let rest = '';
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + part).replaceAll('\r\n', '\n').split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []);
      if (data.length > 0 && data[0] !== '') yield data.join('\n');
    }
  }
}

/** Without the id, which is missing if the server refused the request before it read the body. */
const Refusal = z.object({
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
});
type RpcError = z.infer<typeof Refusal>['error'];

class ServerRefusal extends Error {
  override name = 'ServerRefusal';
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

const explain = (error: unknown): RpcError =>
  error instanceof ServerRefusal ? error.error : { code: -32603, message: `The server cannot be reached: ${error}` };
