import type { WebhookDisabledReason, WebhookOutcome } from '@review/contract';
import { type Selectable, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type Moment, timeOf, wallClockSeconds } from '../../db/clock.ts';
import { jsonRows } from '../../db/json-rows.ts';
import { isPostgres, type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Database, Schema } from '../../db/schema.ts';
import { inStatement } from '../../db/transaction.ts';

interface Claim {
  webhookId: string;
  epoch: number;
}

const findDueWebhooks = prepared(
  (db, { now, limit }: Params<{ now: Moment; limit: number }>) => {
    // As a subquery it is evaluated once and not for each webhook.
    const at = sql<string>`(select ${timeOf(db, now)})`;
    return db
      .selectFrom('webhooks as webhook')
      .innerJoin('event_counters as counter', 'counter.project_id', 'webhook.project_id')
      .select('webhook.id')
      .where('webhook.active', '=', 1)
      .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', at)]))
      .where((eb) =>
        eb.or([
          eb('webhook.next_attempt_at', '<=', at),
          eb('counter.last_sequence', '>', eb.ref('webhook.last_sequence')),
        ]),
      )
      .limit(limit);
  },
  (rows) => rows.map(({ id }) => id),
);

const lease = prepared.all((db, { ids, now, leaseUntil }: Params<{ ids: string[]; now: Moment; leaseUntil: Moment }>) =>
  db
    .updateTable('webhooks')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_until: timeOf(db, leaseUntil) }))
    .where('id', ...anyOf(db, ids))
    .where('active', '=', 1)
    // Another process may have claimed it since it was selected.
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', timeOf(db, now))]))
    .returning(['id as webhookId', 'epoch']),
);

/** Claims active webhooks with due deliveries or new events that no process holds. */
export async function claimDueWebhooks(
  db: Database,
  asked: { now: Moment; leaseUntil: Moment; limit: number },
): Promise<Claim[]> {
  const { now, leaseUntil, limit } = asked;
  const ids = await findDueWebhooks(db, { now, limit });
  // Most looks of a waiting worker find nothing, and need no lock.
  return ids.length === 0 ? [] : inStatement(db, (trx) => lease(trx, { ids, now, leaseUntil }));
}

/** Renews the lease of a webhook and locks it; without an epoch, takes it over. Undefined if it is off or held by another. */
export const holdWebhook = prepared.first(
  (db, { id, epoch, leaseUntil }: Params<{ id: string; epoch?: number | undefined; leaseUntil: Moment }>) => {
    const held = db.updateTable('webhooks').where('id', '=', id).where('active', '=', 1).returningAll();
    const lease_until = timeOf(db, leaseUntil);
    return epoch === undefined
      ? held.set((eb) => ({ lease_until, epoch: eb('epoch', '+', 1) }))
      : held.set({ lease_until }).where('epoch', '=', epoch);
  },
);

/** Ends the lease, and sets when the webhook is due again. */
export const releaseWebhook = prepared.run((db, id: Param<string>) =>
  db
    .updateTable('webhooks')
    .set((eb) => ({
      lease_until: null,
      next_attempt_at: eb
        .selectFrom('webhook_deliveries')
        .select((deliveries) => deliveries.fn.min('next_attempt_at').as('next'))
        .where('webhook_id', '=', id)
        .where('next_attempt_at', 'is not', null),
    }))
    .where('id', '=', id),
);

/** Ends the lease of a claim that could not be handed over, so that it is claimed again. */
export const dropLease = prepared.run((db, { webhookId, epoch }: Params<Claim>) =>
  db.updateTable('webhooks').set({ lease_until: null }).where('id', '=', webhookId).where('epoch', '=', epoch),
);

export const disableWebhook = prepared.run(
  (db, { id, reason }: Params<{ id: string; reason: WebhookDisabledReason }>) =>
    db.updateTable('webhooks').set({ active: 0, disabled_reason: reason, lease_until: null }).where('id', '=', id),
);

export const setLastSequence = prepared.run((db, { id, last }: Params<{ id: string; last: number }>) =>
  db.updateTable('webhooks').set({ last_sequence: last }).where('id', '=', id),
);

interface NewDelivery {
  id: string;
  sequence: number;
  subject_id: string;
  created_at: string;
  /** Whether it is the first of its subject in the list. */
  first: boolean;
}

type NewDeliveries = Params<{ webhookId: string; projectId: string; now: Moment; rows: NewDelivery[] }>;

/**
 * Creates deliveries. Each is due, unless an earlier one of its subject is pending. Those that exist, after a rewind, are made
 * pending again.
 */
export const insertDeliveries = prepared.run((db, { webhookId, projectId, now, rows }: NewDeliveries) => {
  const isFirst = isPostgres(db) ? sql`cast(item ->> 'first' as boolean)` : sql`item ->> 'first'`;
  return sql`
    insert into webhook_deliveries
      (id, webhook_id, project_id, sequence, subject_id, status, attempts, created_at, next_attempt_at)
    select item ->> 'id', ${webhookId}, ${projectId}, cast(item ->> 'sequence' as bigint), item ->> 'subject_id',
      'PENDING', 0, item ->> 'created_at',
      case when ${isFirst} and not exists (
        select 1 from webhook_deliveries as pending
        where pending.webhook_id = ${webhookId} and pending.subject_id = item ->> 'subject_id' and pending.status = 'PENDING'
      ) then ${timeOf(db, now)} end
    from ${jsonRows(db, rows)} where true
    on conflict (webhook_id, sequence) do update
      set status = 'PENDING', attempts = 0, next_attempt_at = excluded.next_attempt_at
      where webhook_deliveries.status <> 'PENDING'`;
});

/** Makes the earliest pending delivery of a subject due, if it waits for an earlier one. */
export const releaseNext = prepared.run(
  (db, { webhookId, subjectId, now }: Params<{ webhookId: string; subjectId: string; now: Moment }>) =>
    db
      .updateTable('webhook_deliveries')
      .set({ next_attempt_at: timeOf(db, now) })
      .where('next_attempt_at', 'is', null)
      .where('id', '=', (eb) =>
        eb
          .selectFrom('webhook_deliveries')
          .select('id')
          .where('webhook_id', '=', webhookId)
          .where('subject_id', '=', subjectId)
          .where('status', '=', 'PENDING')
          .orderBy('sequence')
          .limit(1),
      ),
);

/** Returns due deliveries with their events, and the time for their signatures. */
export const findDueDeliveries = prepared.all(
  (db, { webhookId, now, limit }: Params<{ webhookId: string; now: Moment; limit: number }>) =>
    db
      .selectFrom('webhook_deliveries as delivery')
      .innerJoin('events as event', (join) =>
        join.onRef('event.project_id', '=', 'delivery.project_id').onRef('event.sequence', '=', 'delivery.sequence'),
      )
      .selectAll('event')
      .select(['delivery.id', 'delivery.attempts', wallClockSeconds(db).as('signed_at')])
      .where('delivery.webhook_id', '=', webhookId)
      .where('delivery.next_attempt_at', '<=', timeOf(db, now))
      .orderBy('delivery.next_attempt_at')
      .orderBy('delivery.sequence')
      .limit(limit),
);

export const findDeliveries = prepared.all((db, ids: Param<string[]>) =>
  db
    .selectFrom('webhook_deliveries')
    .select(['id', 'webhook_id', 'subject_id', 'status', 'attempts'])
    .where('id', ...anyOf(db, ids)),
);

type Attempt = Pick<
  Selectable<Schema['webhook_deliveries']>,
  'id' | 'status' | 'attempts' | 'attempted_at' | 'response_status' | 'response_excerpt' | 'error'
>;

/** Records an attempt after which the delivery has ended. */
export const endDelivery = prepared.run((db, { id, ...attempt }: Params<Attempt>) =>
  db
    .updateTable('webhook_deliveries')
    .set({ ...attempt, next_attempt_at: null })
    .where('id', '=', id),
);

/** Records an attempt, and the time of the next one. */
export const retryDelivery = prepared.run((db, { id, nextAt, ...attempt }: Params<Attempt & { nextAt: Moment }>) =>
  db
    .updateTable('webhook_deliveries')
    .set({ ...attempt, next_attempt_at: timeOf(db, nextAt) })
    .where('id', '=', id),
);

export const clearFailure = prepared.run((db, id: Param<string>) =>
  db.updateTable('webhooks').set({ failing_since: null }).where('id', '=', id).where('failing_since', 'is not', null),
);

type Failure = Pick<WebhookOutcome, 'responseStatus' | 'error'> & { at: string };

/** Records a failed attempt. Returns whether the webhook has failed since that time or longer. */
export const recordFailure = prepared(
  (db, { id, failure, now, since }: Params<{ id: string; failure: Failure; now: Moment; since: Moment }>) =>
    db
      .updateTable('webhooks')
      .set((eb) => ({
        failing_since: eb.fn.coalesce('failing_since', timeOf(db, now)),
        last_failure: failure.map((value) => JSON.stringify(value)),
      }))
      .where('id', '=', id)
      .returning((eb) => eb('failing_since', '<=', timeOf(db, since)).as('is_exhausted')),
  ([row]) => Boolean(row?.is_exhausted),
);
