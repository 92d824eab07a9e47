import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../e2e/service.ts';
import { advanceRetries, type Receiver, startReceiver } from '../e2e/webhook-receiver.ts';
import type { Client } from '../packages/client/dist/index.js';
import type { Ledger } from './drill-ledger.ts';

/** What neither subscriber has after this time without a new one counts as missed. */
const SETTLE_MS = 120_000;

interface Told {
  /** Comments whose event the stream did not have. */
  missed: number;
  /** Events that the stream had twice, or after a later one. */
  repeated: number;
  /** Comments of which the webhook was not told. */
  undelivered: number;
  /** Requests to the webhook whose signature was wrong. */
  forged: number;
  /** Comments of which the webhook was told more than once, which is allowed. */
  again: number;
}

/** Two subscribers to the comments of the project: a stream of events by the typed client, and a webhook. */
export class Subscribers implements AsyncDisposable {
  readonly #service: Service;
  readonly #receiver: Receiver;
  readonly #over = new AbortController();
  /** The comments that the stream told of. */
  readonly #streamed = new Set<string>();
  #lastEvent = 0;
  #repeated = 0;
  #following: Promise<void> = Promise.resolve();

  private constructor(service: Service, receiver: Receiver) {
    this.#service = service;
    this.#receiver = receiver;
  }

  static async start(service: Service, client: Client): Promise<Subscribers> {
    const receiver = await startReceiver();
    const subscribers = new Subscribers(service, receiver);
    const { data } = await client.webhooks.create({
      params: { id: service.projectId },
      body: { url: receiver.url, types: ['comment.created'] },
    });
    receiver.secret.resolve((await client.webhooks.get({ params: data })).data.secret ?? '');
    const opened = Promise.withResolvers<void>();
    subscribers.#following = subscribers.#follow(client, opened.resolve);
    await Promise.race([opened.promise, subscribers.#following]);
    return subscribers;
  }

  async #follow(client: Client, onOpen: () => void): Promise<void> {
    const { signal } = this.#over;
    const options = { signal, onConnection: (connection: 'open' | 'lost') => connection === 'open' && onOpen() };
    try {
      for await (const event of client.events(this.#service.projectId, options)) {
        if (Number(event.id) <= this.#lastEvent) this.#repeated += 1;
        this.#lastEvent = Number(event.id);
        if (event.type === 'comment.created') this.#streamed.add(event.subject.id);
      }
    } catch (error) {
      if (!signal.aborted) console.log(`drill: the stream of events ended: ${error}`);
    }
  }

  /** Waits until both have been told of every comment, or neither has been told of another for SETTLE_MS. */
  async audit({ comments }: Ledger): Promise<Told> {
    const told = (): Told => {
      const deliveries = Map.groupBy(this.#receiver.accepted, ({ message }) => message.data.subject.id);
      const ids = [...comments.keys()];
      return {
        missed: ids.filter((id) => !this.#streamed.has(id)).length,
        repeated: this.#repeated,
        undelivered: ids.filter((id) => !deliveries.has(id)).length,
        forged: this.#receiver.invalid,
        again: [...deliveries.values()].filter(({ length }) => length > 1).length,
      };
    };
    for (let [left, since] = [Number.POSITIVE_INFINITY, Date.now()]; Date.now() - since < SETTLE_MS; ) {
      const { missed, undelivered } = told();
      if (missed + undelivered === 0) break;
      if (missed + undelivered < left) [left, since] = [missed + undelivered, Date.now()];
      await advanceRetries(this.#service);
      await sleep(1000);
    }
    return told();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#following;
    await this.#receiver[Symbol.asyncDispose]();
  }
}
