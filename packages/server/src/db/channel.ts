import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import type { OpenDatabase } from './database.ts';
import { type Params, prepared } from './prepared.ts';

/** Notifications sent within this time share a statement. The first of them is sent at once. */
const SEND_INTERVAL_MS = 50;
/** Postgres limits a payload to 8000 bytes. */
const MAX_IDS = 100;
const RECONNECT_MS = 1000;
const KEEPALIVE_SECONDS = 10;

const notify = prepared.all(
  (_, { name, payload }: Params<{ name: string; payload: string }>) => sql`select pg_notify(${name}, ${payload})`,
);

/** Notifies the other processes on the same database. A notification can be lost: receivers poll as well. */
export interface Channel extends AsyncDisposable {
  send(ids: readonly string[]): void;
  /** Starts to receive. Resolves at once; connects in the background, again after a loss. */
  listen(): void;
}

/**
 * Opens a channel of Postgres (LISTEN and NOTIFY); one that does nothing on SQLite, whose only server is this process.
 * NOTIFY is not part of the transactions: it would serialise the commits of all projects.
 */
export function openChannel(opened: OpenDatabase, name: string, receive: (ids: string[]) => void): Channel {
  const { address, db } = opened;
  if (address.dialect === 'sqlite') {
    return { send: () => {}, listen: () => {}, [Symbol.asyncDispose]: async () => {} };
  }
  // A process ignores its own notifications.
  const origin = randomUUID();
  const closing = new AbortController();
  const pending = new Set<string>();
  let sending: Promise<void> | null = null;
  let listening: Promise<void> | null = null;

  async function sendPending(): Promise<void> {
    while (pending.size > 0) {
      const ids = [...pending].slice(0, MAX_IDS);
      for (const id of ids) pending.delete(id);
      await notify(db, { name, payload: [origin, ...ids].join(' ') }).catch(() => {});
      await delay(SEND_INTERVAL_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
    sending = null;
  }

  async function keepListening(url: string): Promise<void> {
    while (!closing.signal.aborted) {
      await receiveUntilLost(url).catch(() => {});
      await delay(RECONNECT_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  async function receiveUntilLost(url: string): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_SECONDS * 1000,
      connectionTimeoutMillis: KEEPALIVE_SECONDS * 1000,
      application_name: 'project-review-service events',
    });
    const { promise: lost, resolve } = Promise.withResolvers<void>();
    client.on('error', () => resolve());
    client.on('end', resolve);
    client.on('notification', ({ payload = '' }) => {
      const [sender, ...ids] = payload.split(' ');
      if (sender !== origin) receive(ids);
    });
    const stop = () => resolve();
    closing.signal.addEventListener('abort', stop);
    try {
      await client.connect();
      await client.query(`listen ${pg.escapeIdentifier(name)}`);
      await lost;
    } finally {
      closing.signal.removeEventListener('abort', stop);
      await client.end().catch(() => {});
    }
  }

  return {
    send(ids) {
      for (const id of ids) pending.add(id);
      sending ??= sendPending();
    },
    listen() {
      listening ??= keepListening(address.url);
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await sending;
      await listening;
    },
  };
}
