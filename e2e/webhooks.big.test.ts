import { webhookWorkflowIdOf } from '@review/contract';
import { describe, type ExpectStatic, inject, test } from 'vitest';
import { until } from './processes.ts';
import { Service } from './service.ts';
import { lacksTemporal, TemporalServer } from './temporal-server.ts';
import { advanceRetries, type Receiver, startReceiver, subscribe } from './webhook-receiver.ts';

const CHANGES = 180;
/** A fault after so many changes. */
const CHANGES_PER_FAULT = 30;
const RETRIES = 1000;
const LOOPBACK = { WEBHOOK_LOOPBACK: 'on' };

interface Fault {
  name: string;
  cause(): Promise<unknown>;
}

/**
 * Makes changes while the receiver fails half of the requests and processes are killed, and expects each event of the project
 * to arrive, with valid signatures and in order per subject.
 */
async function deliverThroughFaults(
  expect: ExpectStatic,
  service: Service,
  receiver: Receiver,
  faults: readonly Fault[],
): Promise<void> {
  let worker = await service.startWorker('first', LOOPBACK);
  const restarts: readonly Fault[] = [
    {
      name: 'worker killed',
      async cause() {
        await worker.end();
        worker = await service.startWorker(`again-${performance.now()}`, LOOPBACK);
      },
    },
    {
      name: 'worker stopped',
      async cause() {
        await worker.end('SIGTERM');
        worker = await service.startWorker(`again-${performance.now()}`, LOOPBACK);
      },
    },
    { name: 'server killed', cause: () => service.restartServer() },
    ...faults,
  ];
  const client = service.clientAt(service.url, { retries: RETRIES });
  const params = { id: service.projectId };
  const webhookId = await subscribe(service, receiver);
  // Each event is refused once, and accepted at the next attempt.
  const attempts = new Map<string, number>();
  receiver.answer = ({ id }) => {
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);
    if (attempt % 2 === 0) return 204;
    return attempts.size % 2 === 0 ? 500 : 'reset';
  };

  let last = '';
  for (let made = 0, caused = 0; made < CHANGES; ) {
    const { data } = await client.comments.create({ params, body: { content: 'Good.' } });
    await client.comments.update({ params: data, body: { content: 'Better.' } });
    await client.comments.resolve({ params: data });
    await advanceRetries(service);
    made += 3;
    last = data.id;
    if (made % CHANGES_PER_FAULT !== 0) continue;
    // Requests are in flight, or have just been.
    const seen = receiver.received.length;
    const isSending = async () => {
      await advanceRetries(service);
      return receiver.received.length > seen;
    };
    await until('requests are sent', isSending, 60_000);
    await restarts[caused % restarts.length]?.cause();
    caused += 1;
  }

  const { db } = service.database;
  const webhook = await db
    .selectFrom('events')
    .select('sequence')
    .where('subject_id', '=', webhookId)
    .executeTakeFirst();
  const events = await db
    .selectFrom('events')
    .select(['sequence', 'subject_id'])
    .where('project_id', '=', service.projectId)
    .where('sequence', '>=', webhook?.sequence ?? 0)
    .orderBy('sequence')
    .execute();
  expect(events.length).toBe(CHANGES + 1);
  expect(events.at(-1)?.subject_id).toBe(last);
  const accepted = () => new Set(receiver.accepted.map(({ message }) => message.data.id));
  const isDone = async () => {
    await advanceRetries(service);
    const pending = { params: { id: webhookId }, body: { status: 'PENDING' } } as const;
    return accepted().size === events.length && (await service.client.webhooks.deliveries(pending)).data.length === 0;
  };
  await until('every event arrives and is recorded', isDone, 200_000);

  expect(receiver.invalid).toBe(0);
  expect([...accepted()].map(Number).toSorted((a, b) => a - b)).toEqual(events.map(({ sequence }) => sequence));
  const idsOf = Map.groupBy(receiver.received, ({ message }) => message.data.id);
  expect([...idsOf.values()].filter((same) => new Set(same.map(({ id }) => id)).size > 1)).toEqual([]);
  // The first arrivals of the events of a subject are in order.
  for (const [subject, own] of Map.groupBy(receiver.accepted, ({ message }) => message.data.subject.id)) {
    const firsts = [...new Set(own.map(({ message }) => Number(message.data.id)))];
    expect(firsts, subject).toEqual(firsts.toSorted((a, b) => a - b));
  }
  const repeated = receiver.accepted.length - events.length;
  console.log(
    `${events.length} events, ${receiver.received.length} requests, ${repeated} accepted again; faults: ${restarts.map(({ name }) => name).join(', ')}`,
  );
}

// They mostly wait, each for its own processes.
describe.concurrent('a receiver that fails half of the requests gets every event', { timeout: 600_000 }, () => {
  test('on SQLite, through kills of worker and server', async ({ expect }) => {
    await using receiver = await startReceiver();
    await using service = await Service.start();
    await deliverThroughFaults(expect, service, receiver, []);
  });

  test('on Postgres, through kills of worker and server', async ({ expect }) => {
    await using receiver = await startReceiver();
    await using service = await Service.start({}, { postgres: inject('postgresUrl') });
    await deliverThroughFaults(expect, service, receiver, []);
  });

  test.skipIf(lacksTemporal())('under Temporal, through kills of worker, server and Temporal', async ({ expect }) => {
    await using receiver = await startReceiver();
    await using temporal = await TemporalServer.start();
    await using service = await Service.start({}, { postgres: inject('postgresUrl'), temporal });
    const restart = async () => {
      await temporal.kill();
      await temporal.start();
    };
    await deliverThroughFaults(expect, service, receiver, [{ name: 'Temporal killed', cause: restart }]);
    const webhook = await service.database.db.selectFrom('webhooks').select('id').executeTakeFirstOrThrow();
    const runs = await temporal.countRuns(webhookWorkflowIdOf(webhook.id));
    expect(runs).toBeGreaterThan(0);
  });
});
