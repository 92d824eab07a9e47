import type {
  WebhookDisabledReason,
  WebhookMessage,
  WebhookOutcome,
  WebhookRequest,
  WorkerApi,
} from '@review/contract';
import type { z } from 'zod';
import { unseal } from '../../config/seal.ts';
import { newUuid } from '../../db/ids.ts';
import { parseJson } from '../../db/json.ts';
import type { Writer } from '../../db/schema.ts';
import { now, secondsFromNow } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError } from '../../request/problem.ts';
import { writeWithEvents } from '../events/outbox.ts';
import { listEventsAfter, type StoredEvent } from '../events/queries.ts';
import { toEvent } from '../events/response.ts';
import { readableTypes } from '../events/stream.ts';
import {
  clearFailure,
  disableWebhook,
  endDelivery,
  findDeliveries,
  findDueDeliveries,
  holdWebhook,
  insertDeliveries,
  recordFailure,
  releaseNext,
  releaseWebhook,
  retryDelivery,
  setLastSequence,
} from './leases.ts';
import type { StoredWebhook } from './queries.ts';
import { signedHeaders } from './secret.ts';

/** A worker has it for a batch of requests, which take at most ten seconds. */
export const LEASE_SECONDS = 30;

const [MINUTE, HOUR] = [60, 60 * 60];
/** The delays after each failed attempt, in seconds. The last attempt is three days after the first one has failed. */
export const RETRY_DELAYS: readonly number[] = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  ...Array.from({ length: 4 }, () => 12 * HOUR),
  6 * HOUR + 24 * MINUTE + 55,
];
/** The maximum of batches of events that a transaction reads. */
const MAX_BATCHES = 20;
const FAILING_SECONDS = 3 * 24 * HOUR;
/** The receiver wants no further deliveries. */
const GONE = 410;

type Exchanged = z.output<WorkerApi['exchangeDeliveries']['body']>;
type ExchangeDeps = Pick<Deps, 'db' | 'projectNotifier' | 'clock' | 'secrets'>;

/**
 * Records the outcomes of requests, creates deliveries for new events, and returns the next requests. Without any, the lease
 * ends. One transaction with the webhook locked, so that an outcome counts once and only under the current epoch.
 */
export function exchangeDeliveries(
  deps: ExchangeDeps,
  id: string,
  { epoch, outcomes, most }: Exchanged,
): Promise<{ epoch: number; requests: WebhookRequest[] }> {
  const { clock } = deps;
  return writeWithEvents(deps, null, async (trx) => {
    const leaseUntil = clock(LEASE_SECONDS);
    const webhook = await holdWebhook(trx, { id, epoch: epoch ?? undefined, leaseUntil });
    if (webhook === undefined) throw new ProblemError('NOT_FOUND');
    const signers = signersOf(deps, webhook);
    const unreadable = signers.length === 0 ? 'SECRET_UNREADABLE' : null;
    const reason = (await recordOutcomes(deps, trx, id, outcomes)) ?? unreadable;
    if (reason !== null) {
      await disableWebhook(trx, { id, reason });
      const about = { projectId: webhook.project_id, subjectId: id };
      return {
        answer: { epoch: webhook.epoch, requests: [] },
        events: [{ type: 'webhook.disabled', ...about, data: { reason } }],
      };
    }
    const due = most === 0 ? [] : await nextDeliveries(deps, trx, webhook, most);
    if (due.length === 0) await releaseWebhook(trx, id);
    const requests = due.map((delivery) => toRequest(webhook.url, signers, delivery));
    return { answer: { epoch: webhook.epoch, requests }, events: [] };
  });
}

/** Returns the secrets that sign; none if the current one cannot be decrypted. */
function signersOf({ secrets }: ExchangeDeps, webhook: StoredWebhook): string[] {
  const current = unseal(secrets.webhooks, webhook.id, webhook.sealed_secret);
  if (current === null) return [];
  const { sealed_previous_secret: sealed, previous_secret_until: until } = webhook;
  if (sealed === null || until === null || until <= secondsFromNow(0)) return [current];
  const previous = unseal(secrets.webhooks, webhook.id, sealed);
  return previous === null ? [current] : [current, previous];
}

/** Records outcomes and schedules retries. Returns the reason to switch the webhook off, if there is one. */
async function recordOutcomes(
  { clock }: ExchangeDeps,
  trx: Writer,
  webhookId: string,
  outcomes: WebhookOutcome[],
): Promise<WebhookDisabledReason | null> {
  if (outcomes.length === 0) return null;
  let reason: WebhookDisabledReason | null = null;
  const ids = outcomes.map(({ deliveryId }) => deliveryId);
  const known = new Map((await findDeliveries(trx, ids)).map((row) => [row.id, row]));
  for (const { deliveryId, responseStatus, responseExcerpt, error } of outcomes) {
    const delivery = known.get(deliveryId);
    if (delivery?.webhook_id !== webhookId || delivery.status !== 'PENDING') continue;
    const at = now();
    const attempt = {
      id: deliveryId,
      attempts: delivery.attempts + 1,
      attempted_at: at,
      response_status: responseStatus,
      response_excerpt: storable(responseExcerpt),
      error: storable(error),
    };
    const delay = error === null || responseStatus === GONE ? undefined : RETRY_DELAYS[delivery.attempts];
    if (delay !== undefined) await retryDelivery(trx, { ...attempt, status: 'PENDING', nextAt: clock(delay) });
    else {
      await endDelivery(trx, { ...attempt, status: error === null ? 'SUCCEEDED' : 'FAILED' });
      await releaseNext(trx, { webhookId, subjectId: delivery.subject_id, now: clock() });
    }
    if (error === null) await clearFailure(trx, webhookId);
    else {
      const failure = { at, responseStatus, error };
      const since = clock(-FAILING_SECONDS);
      const isExhausted = await recordFailure(trx, { id: webhookId, failure, now: clock(), since });
      if (responseStatus === GONE) reason = 'GONE';
      else if (isExhausted) reason ??= 'FAILING';
    }
  }
  return reason;
}

/** Postgres stores neither NUL nor half a surrogate pair. */
const storable = (text: string | null) => text?.replaceAll('\0', '').toWellFormed() ?? null;

type Due = StoredEvent & { id: string; attempts: number; signed_at: number };

/** Returns due deliveries. Creates those of new events while there are fewer than asked for; the next run continues a long backlog. */
async function nextDeliveries(
  { clock }: ExchangeDeps,
  trx: Writer,
  webhook: StoredWebhook,
  limit: number,
): Promise<Due[]> {
  const { id: webhookId, project_id: projectId } = webhook;
  const isWanted = filterOf(webhook);
  for (let [batch, after] = [0, webhook.last_sequence]; ; batch++) {
    const due = await findDueDeliveries(trx, { webhookId, now: clock(), limit });
    if (due.length === limit || batch === MAX_BATCHES || (batch > 0 && due.length > 0)) return due;
    const events = await listEventsAfter(trx, { projectId, after });
    const last = events.at(-1)?.sequence;
    if (last === undefined) return due;
    const subjects = new Set<string>();
    const rows = events.filter(isWanted).map(({ sequence, subject_id }) => {
      const first = !subjects.has(subject_id);
      subjects.add(subject_id);
      return { id: newUuid(), sequence, subject_id, created_at: now(), first };
    });
    if (rows.length > 0) await insertDeliveries(trx, { webhookId, projectId, now: clock(), rows });
    await setLastSequence(trx, { id: webhookId, last });
    after = last;
  }
}

/** Returns a filter of events. A webhook acts as a lead of its project, with the scopes of the credential that set it up. */
function filterOf(webhook: StoredWebhook): (event: StoredEvent) => boolean {
  const readable = readableTypes(new Set(parseJson(webhook.scopes)), 'PROJECT_OWNER');
  const types = parseJson(webhook.types);
  return ({ type, subject_id: subjectId }) => {
    if (type === 'webhook.tested') return subjectId === webhook.id;
    return readable.has(type) && (types?.includes(type) ?? true);
  };
}

function toRequest(url: string, signers: string[], { id, attempts, signed_at, ...event }: Due): WebhookRequest {
  const message = { type: event.type, timestamp: `${event.at.replace(' ', 'T')}Z`, data: toEvent(event) };
  const body = JSON.stringify(message satisfies { [Field in keyof WebhookMessage]: unknown });
  const headers = signedHeaders(signers, id, signed_at, body);
  return { deliveryId: id, attempt: attempts + 1, url, headers, body };
}
