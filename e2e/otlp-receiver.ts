import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

const Attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .transform((all) => Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value)[0]])));
const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes: Attributes,
  status: z.object({ code: z.number() }),
});
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(z.object({ spans: z.array(Span) })),
    }),
  ),
});

export type ReceivedSpan = z.infer<typeof Span> & { service: unknown };

/** A receiver of traces by OTLP/HTTP in JSON, on this host. */
export interface TraceReceiver extends AsyncDisposable {
  url: string;
  spans: ReceivedSpan[];
  /** All requests, answered or not. */
  requests: number;
  /** Leaves requests without an answer. */
  hangs: boolean;
}

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const server = createServer(async (request, response) => {
    receiver.requests += 1;
    const body = await json(request);
    if (receiver.hangs) return;
    for (const { resource, scopeSpans } of Export.parse(body).resourceSpans) {
      const service = resource.attributes['service.name'];
      receiver.spans.push(...scopeSpans.flatMap(({ spans }) => spans).map((span) => ({ ...span, service })));
    }
    response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  const receiver: TraceReceiver = {
    url: `http://127.0.0.1:${address.port}`,
    spans: [],
    requests: 0,
    hangs: false,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
