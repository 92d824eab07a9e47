import type { WebhookDeliveryStatus } from '@review/contract';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type Moment, timeOf } from '../../db/clock.ts';
import { preparedPages } from '../../db/cursor.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Schema, Writer } from '../../db/schema.ts';
import { memberships, type Viewer } from '../visibility.ts';

export type StoredWebhook = Selectable<Schema['webhooks']>;
type Row = Schema['webhooks'];

export const findVisibleWebhook = prepared.lookUp((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  db
    .selectFrom('webhooks as webhook')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'webhook.project_id')
    .selectAll('webhook')
    .select(['seen.role', 'seen.deletes_at'])
    .where('webhook.id', '=', id),
);

export const findVisibleDelivery = prepared.lookUp((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'delivery.project_id')
    .select(['delivery.id', 'delivery.webhook_id', 'delivery.subject_id', 'seen.role', 'seen.deletes_at'])
    .where('delivery.id', '=', id),
);

export const listWebhooks = prepared.all((db, projectId: Param<string>) =>
  db.selectFrom('webhooks').selectAll().where('project_id', '=', projectId).orderBy('created_at').orderBy('id'),
);

/** The caller has locked the project. */
export const countWebhooks = prepared(
  (db, projectId: Param<string>) =>
    db
      .selectFrom('webhooks')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('project_id', '=', projectId),
  ([row]) => row?.count ?? 0,
);

export const countActiveWebhooks = prepared.one((db) =>
  db
    .selectFrom('webhooks')
    .select((eb) => [eb.fn.countAll<number>().as('all'), eb.fn.count<number>('failing_since').as('failing')])
    .where('active', '=', 1),
);

/** Returns the time of the oldest event that an active webhook has not been sent; undefined if there is none. Retries do not count. */
export const findOldestUnsent = prepared(
  (db) =>
    db
      .selectFrom('webhooks as webhook')
      .select((eb) => [
        eb
          .selectFrom('events as event')
          .select('event.at')
          .whereRef('event.project_id', '=', 'webhook.project_id')
          .whereRef('event.sequence', '>', 'webhook.last_sequence')
          .orderBy('event.sequence')
          .limit(sql.lit(1))
          .as('unread_since'),
        eb
          .selectFrom('webhook_deliveries as delivery')
          .innerJoin('events as event', (join) =>
            join
              .onRef('event.project_id', '=', 'delivery.project_id')
              .onRef('event.sequence', '=', 'delivery.sequence'),
          )
          .select('event.at')
          .whereRef('delivery.webhook_id', '=', 'webhook.id')
          .where('delivery.next_attempt_at', 'is not', null)
          .where('delivery.attempts', '=', sql.lit(0))
          .orderBy('delivery.next_attempt_at')
          .limit(sql.lit(1))
          .as('unsent_since'),
      ])
      .where('webhook.active', '=', sql.lit(1)),
  (rows) =>
    rows
      .flatMap((row) => [row.unread_since, row.unsent_since])
      .filter((at) => at !== null)
      .sort()[0],
);

export const insertWebhook = prepared.run((db, webhook: Params<Insertable<Row>>) =>
  db.insertInto('webhooks').values(webhook),
);

type Changes = Pick<
  Updateable<Row>,
  'url' | 'types' | 'description' | 'scopes' | 'active' | 'disabled_reason' | 'failing_since'
>;

export const updateWebhook = prepared.run((db, { id, ...changes }: Params<{ id: string } & Changes>) =>
  db.updateTable('webhooks').set(changes).where('id', '=', id),
);

export const deleteWebhook = prepared.run((db, id: Param<string>) => db.deleteFrom('webhooks').where('id', '=', id));

/** Replaces the secret, and keeps the former one until a time. */
export const replaceSecret = prepared.run(
  (db, { id, sealed, until }: Params<{ id: string; sealed: string; until: string }>) =>
    db
      .updateTable('webhooks')
      .set((eb) => ({
        sealed_previous_secret: eb.ref('sealed_secret'),
        previous_secret_until: until,
        sealed_secret: sealed,
      }))
      .where('id', '=', id),
);

/** Returns up to 200 webhooks in the order of their ids. */
export const listSealedSecrets = prepared.all((db, afterId: Param<string>) =>
  db
    .selectFrom('webhooks')
    .select(['id', 'sealed_secret', 'sealed_previous_secret'])
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(200),
);

type Sealed = Pick<StoredWebhook, 'id' | 'sealed_secret' | 'sealed_previous_secret'>;

/** Does nothing if the secret was rotated meanwhile. */
export const updateSealedSecrets = prepared.run((db, { id, was, ...sealed }: Params<Sealed & { was: string }>) =>
  db.updateTable('webhooks').set(sealed).where('id', '=', id).where('sealed_secret', '=', was),
);

export const listDeliveries = preparedPages(
  'delivery',
  (db, { webhookId, status }: Params<{ webhookId: string; status?: WebhookDeliveryStatus | undefined }>) => {
    const rows = db
      .selectFrom('webhook_deliveries as delivery')
      .innerJoin('events as event', (join) =>
        join.onRef('event.project_id', '=', 'delivery.project_id').onRef('event.sequence', '=', 'delivery.sequence'),
      )
      .selectAll('delivery')
      .select('event.type')
      .where('delivery.webhook_id', '=', webhookId);
    return status === undefined ? rows : rows.where('delivery.status', '=', status);
  },
  () => 'created_at',
);

/** Returns the first kept event of the project since a time. */
export const findFirstSince = prepared.first((db, { projectId, since }: Params<{ projectId: string; since: string }>) =>
  db
    .selectFrom('events')
    .select('sequence')
    .where('project_id', '=', projectId)
    .where('at', '>=', since)
    .orderBy('sequence')
    .limit(1),
);

/** Makes the events after that one new again. */
export const rewind = prepared.run((db, { id, last }: Params<{ id: string; last: number }>) =>
  db.updateTable('webhooks').set({ last_sequence: last }).where('id', '=', id).where('last_sequence', '>', last),
);

/** Makes the webhook due. Locks it, before any of its deliveries. */
export const setDue = prepared.run((db, { id, now }: Params<{ id: string; now: Moment }>) =>
  db
    .updateTable('webhooks')
    .set({ next_attempt_at: timeOf(db, now) })
    .where('id', '=', id),
);

/** Makes a delivery pending again. The caller has locked its webhook. */
export const reopenDelivery = prepared.run((db, { id, now }: Params<{ id: string; now: Moment }>) =>
  db
    .updateTable('webhook_deliveries')
    .set({ status: 'PENDING', attempts: 0, next_attempt_at: timeOf(db, now) })
    .where('id', '=', id),
);

/** Makes the retries of a webhook due. The caller has locked it. */
export const advanceRetries = prepared.run((db, { webhookId, now }: Params<{ webhookId: string; now: Moment }>) =>
  db
    .updateTable('webhook_deliveries')
    .set({ attempts: 0, next_attempt_at: timeOf(db, now) })
    .where('webhook_id', '=', webhookId)
    .where('next_attempt_at', 'is not', null),
);

type OfProjects = Params<{ projectIds: string[]; now: Moment }>;

const setBlockedDue = prepared(
  (db, { projectIds, now }: OfProjects) =>
    db
      .updateTable('webhooks')
      .set({ next_attempt_at: timeOf(db, now) })
      .where('project_id', ...anyOf(db, projectIds))
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('webhook_deliveries as blocked')
            .select('blocked.id')
            .whereRef('blocked.webhook_id', '=', 'webhooks.id')
            .where('blocked.status', '=', 'PENDING')
            .where('blocked.next_attempt_at', 'is', null),
        ),
      )
      .returning('id'),
  (rows) => rows.map(({ id }) => id),
);

const releaseUnblocked = prepared.run((db, { webhookIds, now }: Params<{ webhookIds: string[]; now: Moment }>) =>
  db
    .updateTable('webhook_deliveries')
    .set({ next_attempt_at: timeOf(db, now) })
    .where('webhook_id', ...anyOf(db, webhookIds))
    .where('status', '=', 'PENDING')
    .where('next_attempt_at', 'is', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('webhook_deliveries as earlier')
            .select('earlier.id')
            .whereRef('earlier.webhook_id', '=', 'webhook_deliveries.webhook_id')
            .whereRef('earlier.subject_id', '=', 'webhook_deliveries.subject_id')
            .where('earlier.status', '=', 'PENDING')
            .whereRef('earlier.sequence', '<', 'webhook_deliveries.sequence'),
        ),
      ),
    ),
);

/** Makes deliveries due that have waited for one whose event was swept. */
export async function releaseSwept(trx: Writer, projectIds: string[], now: Moment): Promise<void> {
  const webhookIds = await setBlockedDue(trx, { projectIds, now });
  if (webhookIds.length > 0) await releaseUnblocked(trx, { webhookIds, now });
}
