import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import type { Service } from './service.ts';

const Message = z.object({
  type: z.string(),
  data: z.object({ id: z.string(), subject: z.object({ id: z.string() }) }),
});
type Message = z.infer<typeof Message>;

interface Received {
  /** The `webhook-id`. */
  id: string;
  headers: IncomingMessage['headers'];
  message: Message;
}

/** A receiver on this host, which verifies every signature. */
export interface Receiver extends AsyncDisposable {
  url: string;
  /** `subscribe` resolves it. The first request can come before: that of the webhook's own event. */
  secret: PromiseWithResolvers<string>;
  /** The requests that were answered with 204. */
  accepted: Received[];
  /** All requests with a valid signature. */
  received: Received[];
  /** The requests without one. */
  invalid: number;
  /** Chooses the answer; by default every request is accepted. */
  answer: (received: Received) => number | 'reset';
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const body = await read(request);
    const secret = await receiver.secret.promise;
    try {
      new Webhook(secret).verify(
        body,
        Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
      );
    } catch {
      receiver.invalid += 1;
      response.writeHead(400).end();
      return;
    }
    const { headers } = request;
    const received = { id: String(headers['webhook-id']), headers, message: Message.parse(JSON.parse(body)) };
    receiver.received.push(received);
    const answer = receiver.answer(received);
    if (answer === 204) receiver.accepted.push(received);
    if (answer === 'reset') response.destroy();
    else response.writeHead(answer).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}/hook`,
    secret: Promise.withResolvers(),
    accepted: [],
    received: [],
    invalid: 0,
    answer: () => 204,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Creates a webhook of the demo project for the receiver. */
export async function subscribe({ client, projectId }: Service, receiver: Receiver): Promise<string> {
  const { data } = await client.webhooks.create({ params: { id: projectId }, body: { url: receiver.url } });
  receiver.secret.resolve((await client.webhooks.get({ params: data })).data.secret ?? '');
  return data.id;
}

/** Makes all retries due, as if their time had come. Locks the webhooks first, as the server does. */
export async function advanceRetries({ database: { db } }: Service): Promise<void> {
  const past = { next_attempt_at: '2026-01-01 00:00:00.000000' };
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('webhooks')
      .set((eb) => ({ id: eb.ref('id') }))
      .execute();
    await trx.updateTable('webhooks').set(past).where('next_attempt_at', 'is not', null).execute();
    await trx.updateTable('webhook_deliveries').set(past).where('next_attempt_at', 'is not', null).execute();
  });
}
