import { type Contract, MAX_WEBHOOKS } from '@review/contract';
import { seal, unseal } from '../../config/seal.ts';
import { newUuid } from '../../db/ids.ts';
import { parseJson } from '../../db/json.ts';
import { now, secondsFromNow } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { cursors } from '../../request/cursors.ts';
import { ProblemError } from '../../request/problem.ts';
import { givenFields } from '../events/given-fields.ts';
import { findLastSequences } from '../events/queries.ts';
import type { Handlers } from '../handler.ts';
import { lockProject } from '../visibility.ts';
import {
  advanceRetries,
  countWebhooks,
  deleteWebhook,
  findFirstSince,
  insertWebhook,
  listDeliveries,
  listWebhooks,
  reopenDelivery,
  replaceSecret,
  rewind,
  type StoredWebhook,
  setDue,
  updateWebhook,
} from './queries.ts';
import { newSecret } from './secret.ts';

/** How long the former secret signs after a rotation. */
const OVERLAP_SECONDS = 24 * 60 * 60;

export const webhooks = ({ db, clock, secrets }: Deps): Handlers<Contract['webhooks']> => ({
  create: ({ caller, subject: project, body, write }) =>
    write(async (trx) => {
      const { url, types = null, description = null } = body;
      await lockProject(trx, project.id);
      if ((await countWebhooks(trx, project.id)) >= MAX_WEBHOOKS) throw new ProblemError('WEBHOOK_LIMIT');
      const id = newUuid();
      await insertWebhook(trx, {
        id,
        project_id: project.id,
        url,
        types: types && JSON.stringify(types),
        description,
        scopes: JSON.stringify([...caller.scopes]),
        active: 1,
        sealed_secret: seal(secrets.webhooks, id, newSecret()),
        last_sequence: (await findLastSequences(trx, [project.id])).get(project.id) ?? 0,
        epoch: 0,
        created_at: now(),
      });
      return {
        answer: { data: { id } },
        events: [{ type: 'webhook.created', projectId: project.id, subjectId: id, data: {} }],
      };
    }),

  list: async ({ subject: project }) => ({ data: (await listWebhooks(db, project.id)).map(toResponse) }),

  async get({ subject: webhook }) {
    const until = webhook.previous_secret_until;
    return {
      data: {
        ...toResponse(webhook),
        secret: unseal(secrets.webhooks, webhook.id, webhook.sealed_secret),
        previousSecretExpiresAt: until !== null && until > secondsFromNow(0) ? until : null,
      },
    };
  },

  update: ({ caller, subject: webhook, body, write }) =>
    write(async (trx) => {
      const changed = givenFields(body, 'url', 'types', 'description', 'active');
      const [first, ...others] = changed;
      if (first === undefined) return { answer: undefined, events: [] };
      const { url, types, description, active } = body;
      const redirects = url !== undefined || types !== undefined;
      await updateWebhook(trx, {
        id: webhook.id,
        url,
        types: types && JSON.stringify(types),
        description,
        scopes: redirects ? JSON.stringify([...caller.scopes]) : undefined,
        active: active === undefined ? undefined : Number(active),
        disabled_reason: active === undefined ? undefined : null,
        // Another receiver, or one that a lead has repaired, gets its own three days.
        failing_since: url !== undefined || active === true ? null : undefined,
      });
      return {
        answer: undefined,
        events: [{ ...about(webhook), type: 'webhook.updated', data: { changed: [first, ...others] } }],
      };
    }),

  delete: ({ subject: webhook, write }) =>
    write(async (trx) => {
      await deleteWebhook(trx, webhook.id);
      return { answer: undefined, events: [{ ...about(webhook), type: 'webhook.deleted', data: {} }] };
    }),

  rotateSecret: ({ subject: webhook, write }) =>
    write(async (trx) => {
      const sealed = seal(secrets.webhooks, webhook.id, newSecret());
      await replaceSecret(trx, { id: webhook.id, sealed, until: secondsFromNow(OVERLAP_SECONDS) });
      return {
        answer: undefined,
        events: [{ ...about(webhook), type: 'webhook.updated', data: { changed: ['secret'] } }],
      };
    }),

  test: ({ subject: webhook, write }) =>
    write(async () => ({ answer: undefined, events: [{ ...about(webhook), type: 'webhook.tested', data: {} }] })),

  redeliverSince: ({ subject: webhook, body: { since }, write }) =>
    write(async (trx) => {
      await setDue(trx, { id: webhook.id, now: clock() });
      await advanceRetries(trx, { webhookId: webhook.id, now: clock() });
      const first = await findFirstSince(trx, { projectId: webhook.project_id, since });
      if (first !== undefined) await rewind(trx, { id: webhook.id, last: first.sequence - 1 });
      return { answer: undefined, events: [] };
    }),

  async deliveries({ subject: webhook, body: { status, next, prev } }) {
    const pages = cursors(secrets.cursor, `deliveries of ${webhook.id}`, { status });
    const page = { direction: 'desc', from: pages.position({ next, prev }) } as const;
    return pages.answer(await listDeliveries(db, page, { webhookId: webhook.id, status }, {}), (row) => ({
      id: row.id,
      event: { id: String(row.sequence), type: row.type, subject: { id: row.subject_id } },
      status: row.status,
      attempts: row.attempts,
      nextAttemptAt: row.next_attempt_at,
      lastAttemptAt: row.attempted_at,
      responseStatus: row.response_status,
      responseExcerpt: row.response_excerpt,
      error: row.error,
      createdAt: row.created_at,
    }));
  },

  redeliver: ({ subject: delivery, write }) =>
    write(async (trx) => {
      await setDue(trx, { id: delivery.webhook_id, now: clock() });
      await reopenDelivery(trx, { id: delivery.id, now: clock() });
      return { answer: undefined, events: [] };
    }),
});

const about = (webhook: StoredWebhook) => ({ projectId: webhook.project_id, subjectId: webhook.id });

const toResponse = (webhook: StoredWebhook) => ({
  id: webhook.id,
  url: webhook.url,
  types: parseJson(webhook.types),
  description: webhook.description,
  active: webhook.active === 1,
  disabledReason: webhook.disabled_reason,
  failingSince: webhook.failing_since,
  lastFailure: parseJson(webhook.last_failure),
  createdAt: webhook.created_at,
});
