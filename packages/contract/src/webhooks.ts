import { z } from 'zod';
import { LEADS } from './access.ts';
import { list } from './collections.ts';
import { created, data, NO_BODY, QUERY, room } from './endpoint.ts';
import { EventId, EventType, ProjectEvent, WebhookDisabledReason } from './event-types.ts';
import { Uuid } from './ids.ts';
import { cursorPage, cursorQuery } from './paging.ts';
import { text } from './text.ts';
import { ChosenTime, Timestamp } from './time.ts';

/** The maximum of webhooks per project. */
export const MAX_WEBHOOKS = 20;

/** The characters of an answer that a delivery keeps. */
export const MAX_RESPONSE_EXCERPT = 1000;

// A pattern and not a parser, so that the OpenAPI document says exactly what is accepted.
const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const PUBLIC_HOST = `(?:${LABEL}\\.){0,20}[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`;
const LOOPBACK_HOST = '(?:localhost|127\\.0\\.0\\.1|\\[::1\\])';
const PORT = '(?::(?:6553[0-5]|655[0-2]\\d|65[0-4]\\d\\d|6[0-4]\\d{3}|[1-5]\\d{4}|[1-9]\\d{0,3}))?';
const PATH = '(?:[/?][!"$-;=?-~]*)?';

const WebhookUrl = z
  .string()
  .max(2048)
  .regex(new RegExp(`^(?:https://${PUBLIC_HOST}|http://${LOOPBACK_HOST})${PORT}${PATH}$`), {
    error: 'Must be an https URL with a host name, without user name, password and fragment.',
  })
  .describe(
    'An https URL. http is accepted for loopback addresses only, which a worker refuses unless its operator allows them.',
  );

const chosenTypes = list(
  EventType,
  { min: 1, max: 100 },
  { of: (type) => type, path: [], message: 'The type is a duplicate of an earlier one in the list.' },
)
  .nullable()
  .optional()
  .describe('Deliver only events of these types; null for all of them.');
const Description = text({ max: 1024 }).nullable().optional();

/** What an attempt at a delivery has failed with. `responseStatus` is null if there was no answer. */
const failure = { responseStatus: z.number().int().nullable(), error: z.string() };

export const ListedWebhook = z
  .object({
    id: Uuid,
    url: z.string(),
    /** Null for all types. */
    types: z.array(EventType).nullable(),
    description: z.string().nullable(),
    active: z.boolean(),
    /** Why the service has switched it off; null if it is active or a lead has switched it off. */
    disabledReason: WebhookDisabledReason.nullable(),
    /** The first failed attempt since the last success; null if there is none. */
    failingSince: Timestamp.nullable(),
    lastFailure: z.object({ at: Timestamp, ...failure }).nullable(),
    createdAt: Timestamp,
  })
  .meta({ id: 'ListedWebhook' });
export type ListedWebhook = z.infer<typeof ListedWebhook>;

export const Webhook = ListedWebhook.extend({
  /** `whsec_` and 32 bytes in base64; null if the server can no longer decrypt it. */
  secret: z.string().nullable(),
  /** Until then the secret before the last rotation signs too; null if there is none. */
  previousSecretExpiresAt: Timestamp.nullable(),
}).meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof Webhook>;

export const WEBHOOK_DELIVERY_STATUSES = ['PENDING', 'SUCCEEDED', 'FAILED'] as const;
export const WebhookDeliveryStatus = z.enum(WEBHOOK_DELIVERY_STATUSES).meta({ id: 'WebhookDeliveryStatus' });
export type WebhookDeliveryStatus = z.infer<typeof WebhookDeliveryStatus>;

export const WebhookDelivery = z
  .object({
    /** Also the `webhook-id` of all its attempts. */
    id: Uuid,
    event: z.object({ id: EventId, type: EventType, subject: z.object({ id: z.string() }) }),
    /** FAILED after 3 days of attempts, or after 410. */
    status: WebhookDeliveryStatus,
    /** The number of attempts since it was created or redelivered. */
    attempts: z.number().int(),
    /** Null unless it is PENDING, and while it waits for an earlier event of the same subject. */
    nextAttemptAt: Timestamp.nullable(),
    lastAttemptAt: Timestamp.nullable(),
    /** The status of the last answer; null if there was none. */
    responseStatus: z.number().int().nullable(),
    /** The beginning of the last answer; null if there was none. */
    responseExcerpt: z.string().nullable(),
    /** Why the last attempt failed; null if it succeeded. */
    error: z.string().nullable(),
    createdAt: Timestamp,
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** The body of a delivery, by Standard Webhooks. */
export const WebhookMessage = z
  .object({
    type: EventType,
    /** The time of the event in ISO 8601. */
    timestamp: z.string(),
    data: ProjectEvent,
  })
  .meta({ id: 'WebhookMessage' });
export type WebhookMessage = z.infer<typeof WebhookMessage>;

const reading = { tier: 'default', scopes: ['projects:write'], roles: LEADS } as const;
const writing = { ...reading, tier: 'tier-3' } as const;

export const webhooks = room({
  create: {
    method: 'POST',
    path: '/api/projects/:id/webhooks',
    summary: 'Create a webhook; its secret is read with Get Webhook',
    description:
      'The service sends each later event of the project to the URL by POST, signed by Standard Webhooks, at least once, in order per subject. The webhook gets the types of events that the scopes of the credential may read. At most 20 webhooks per project.',
    body: z.strictObject({ url: WebhookUrl, types: chosenTypes, description: Description }),
    responses: { 201: created(Uuid) },
    metadata: {
      ...writing,
      events: ['webhook.created'],
      subject: 'project',
      location: '/api/webhooks/:id',
      problems: ['WEBHOOK_LIMIT'],
    },
  },
  list: {
    method: 'GET',
    path: '/api/projects/:id/webhooks',
    summary: 'List the webhooks of a project',
    responses: { 200: data(z.array(ListedWebhook)) },
    metadata: { ...reading, subject: 'project' },
  },
  get: {
    method: 'GET',
    path: '/api/webhooks/:id',
    summary: 'Read a webhook with its secret',
    responses: { 200: data(Webhook) },
    metadata: { ...reading, subject: 'webhook' },
  },
  update: {
    method: 'PATCH',
    path: '/api/webhooks/:id',
    summary: 'Change a webhook, or switch it on or off',
    description:
      'Events wait while a webhook is off, and are delivered when it is on again, if they are still kept. A change of `url` or `types` also takes the scopes of the credential that makes it.',
    body: z.strictObject({
      url: WebhookUrl.optional(),
      types: chosenTypes,
      description: Description,
      active: z.boolean().optional(),
    }),
    responses: { 204: NO_BODY },
    metadata: { ...writing, events: ['webhook.updated'], subject: 'webhook' },
  },
  delete: {
    method: 'DELETE',
    path: '/api/webhooks/:id',
    summary: 'Delete a webhook and its deliveries',
    responses: { 204: NO_BODY },
    metadata: { ...writing, events: ['webhook.deleted'], subject: 'webhook' },
  },
  rotateSecret: {
    method: 'POST',
    path: '/api/webhooks/:id/secret.rotate',
    summary: 'Replace the secret; the former one signs too for 24 hours',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: { ...writing, events: ['webhook.updated'], subject: 'webhook' },
  },
  test: {
    method: 'POST',
    path: '/api/webhooks/:id/test',
    summary: 'Send an event `webhook.tested` to this webhook, even if its types exclude it',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: { ...writing, events: ['webhook.tested'], subject: 'webhook' },
  },
  redeliverSince: {
    method: 'POST',
    path: '/api/webhooks/:id/redeliver',
    summary: 'Deliver every event since a time again, including those that were delivered',
    description: 'As far as events are kept. Each keeps its `webhook-id`.',
    body: z.strictObject({ since: ChosenTime }),
    responses: { 204: NO_BODY },
    metadata: { ...writing, events: [], subject: 'webhook' },
  },
  deliveries: {
    method: QUERY,
    path: '/api/webhooks/:id/deliveries',
    summary: 'List the deliveries of a webhook, page by page, newest first',
    description: 'A delivery is kept as long as its event.',
    body: cursorQuery({ status: WebhookDeliveryStatus.optional().describe('Only deliveries with this status.') }),
    responses: { 200: cursorPage(WebhookDelivery) },
    metadata: { ...reading, subject: 'webhook' },
  },
  redeliver: {
    method: 'POST',
    path: '/api/webhook-deliveries/:id/redeliver',
    summary: 'Deliver an event again, at once',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: { ...writing, events: [], subject: 'webhook-delivery' },
  },
});
