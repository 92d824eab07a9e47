import { z } from 'zod';
import { list } from './collections.ts';
import { data, type Endpoint, NO_BODY } from './endpoint.ts';
import { Engine, GenerationStatus, GenerationStep } from './generation.ts';
import { GenerationError } from './generation-error.ts';
import { FileId, ReferenceId, Uuid } from './ids.ts';
import { Family, OutputType, Provider, VideoSettings } from './models.ts';
import { opaqueJson } from './opaque-json.ts';
import { Timestamp } from './time.ts';
import { NewUpload, UploadedParts, UploadPart } from './upload.ts';
import { MAX_RESPONSE_EXCERPT } from './webhooks.ts';
import { Epoch, MAX_INT, Message, WorkerName } from './worker-fields.ts';
import { workerMedia } from './worker-media.ts';

/** A worker's report on a family: it has the provider's key (`live`), has none (`sandbox`), or has incomplete settings. */
export const FamilyState = z.strictObject({
  family: Family,
  state: z.enum(['live', 'sandbox', 'misconfigured']),
  reason: Message.nullable().optional(),
});
export type FamilyState = z.infer<typeof FamilyState>;

const StageName = z.string().min(1).max(50);
const Intents = z.number().int().max(MAX_INT);
const Warnings = list(Message, { max: 100 });

/** The latest refusal of the account by a provider: of its key or its balance. */
export const ProviderRefusal = z.strictObject({
  family: Family,
  type: z.enum(['AUTH', 'BALANCE']),
  message: Message,
  at: Timestamp,
});
export type ProviderRefusal = z.infer<typeof ProviderRefusal>;

/** A worker's identity and families. Each report replaces the previous one. */
const WorkerReport = z.strictObject({
  worker: WorkerName,
  version: z.string().max(100).optional(),
  families: list(FamilyState, { max: 100 }),
  refusals: list(ProviderRefusal, { max: 100 }).optional(),
});
export type WorkerReport = z.infer<typeof WorkerReport>;

/** A paid call. It is reserved before it is made, so that it is never made twice; then it holds the provider's job. */
export const Stage = z.object({
  /** The count of reservations; more than 1 only where a resubmit is allowed. */
  intents: z.number().int(),
  /** The provider's job reference, which only the adapter reads; null until the provider has answered. */
  job: z.unknown(),
});
export type Stage = z.infer<typeof Stage>;

/** A generation, with all that the worker needs. */
export const WorkerTask = z.object({
  fileId: FileId,
  family: Family,
  status: GenerationStatus,
  outputType: OutputType,
  outputModel: z.string(),
  prompt: z.string(),
  configs: VideoSettings.nullable(),
  /** The required provider; null lets the worker choose. */
  provider: Provider.nullable(),
  attachments: z.array(
    z.object({
      id: ReferenceId,
      /** Null if the content no longer exists. */
      content: z.object({ name: z.string(), mimeType: z.string(), size: z.number().int(), url: z.string() }).nullable(),
    }),
  ),
  stages: z.record(z.string(), Stage),
  /** Whether the result is stored. */
  stored: z.boolean(),
});
export type WorkerTask = z.infer<typeof WorkerTask>;

/** `task` spares the worker a call; its attachments have URLs like those of `getTask`. */
const Claim = z.object({
  fileId: FileId,
  family: Family,
  epoch: Epoch,
  /** The trace to continue (W3C Trace Context). Servers of earlier releases omit it. */
  traceparent: z.string().optional(),
  task: WorkerTask,
});

const Attempt = {
  ...GenerationStep.pick({ outcome: true }).shape,
  name: StageName,
  attempt: z.number().int().min(1).max(MAX_INT),
  message: Message.nullable(),
  milliseconds: z.number().min(0).max(MAX_INT),
};

/** An attempt at a step, for the timeline. */
export const StepRecord = z.strictObject({
  ...Attempt,
  /** A record with a known id is ignored, so that a report can be repeated. */
  id: z.uuid(),
  /** The milliseconds since its end. */
  ago: z.number().min(0).max(MAX_INT),
});
export type StepRecord = z.infer<typeof StepRecord>;

/** Attempts since the last report. They are recorded with the change, or not at all. */
const Steps = list(StepRecord, { max: 100 }).optional();

/** The provider's reference to an accepted call. */
const Submitted = z.strictObject({
  stage: StageName,
  job: opaqueJson({ maxBytes: 100 * 1024, maxDepth: 100 }),
  jobId: z.string().max(4000).nullable(),
});
export type Submitted = z.infer<typeof Submitted>;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A result up to this size is sent in one call instead of a multipart upload. */
export const MAX_DIRECT_RESULT = 256 * 1024;

export const FinishedOutcome = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('SUCCEEDED'), warnings: Warnings }),
  z.strictObject({
    status: z.literal('FAILED'),
    error: GenerationError.extend({ message: Message }).strict(),
    warnings: Warnings,
  }),
]);
export type FinishedOutcome = z.infer<typeof FinishedOutcome>;

/** The maximum of concurrent requests to one webhook. */
export const MAX_WEBHOOK_REQUESTS = 8;

/** A signed request to a webhook. The worker never gets the secret. */
export const WebhookRequest = z.object({
  deliveryId: Uuid,
  /** From 1. Servers of earlier releases omit it. */
  attempt: z.number().int().optional(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});
export type WebhookRequest = z.infer<typeof WebhookRequest>;

/** The answer of a webhook, or the error that prevented one. */
export const WebhookOutcome = z.strictObject({
  deliveryId: Uuid,
  responseStatus: z.number().int().min(100).max(999).nullable(),
  responseExcerpt: z.string().max(MAX_RESPONSE_EXCERPT).nullable(),
  /** Null if the status is 2xx. */
  error: Message.nullable(),
});
export type WebhookOutcome = z.infer<typeof WebhookOutcome>;

/** Raised when workers begin to send what earlier servers refuse. */
export const WORKER_API_VERSION = 1;
/** The header of every answer with the WORKER_API_VERSION of the server. Servers of earlier releases omit it. */
export const WORKER_API_VERSION_HEADER = 'worker-api-version';

/**
 * The private API for workers, authenticated by WORKER_TOKEN and absent from the public OpenAPI document. A call with an
 * outdated epoch, or on a generation that has ended, answers 404 and changes nothing.
 */
export const workerApi = {
  register: {
    method: 'POST',
    path: '/worker/hello',
    summary: 'Register the worker and its families, release the leases of its previous process, and read the engine',
    body: WorkerReport,
    responses: { 200: data(z.object({ engine: Engine })) },
  },
  heartbeat: {
    method: 'POST',
    path: '/worker/heartbeat',
    summary: 'Keep the worker alive, update its report, and read whether it is draining: then it takes no new work',
    body: WorkerReport,
    responses: { 200: data(z.object({ draining: z.boolean() })) },
  },
  claim: {
    method: 'POST',
    path: '/worker/tasks/claim',
    summary: 'Claim open generations under a lease; waits if there are none',
    body: z.strictObject({
      worker: WorkerName,
      most: z.number().int().min(1).max(100),
      wait: z.number().min(0).max(30),
    }),
    responses: { 200: data(z.object({ tasks: z.array(Claim), leaseSeconds: z.number() })) },
  },
  renew: {
    method: 'POST',
    path: '/worker/tasks/renew',
    summary: 'Renew leases; returns the generations whose lease is lost',
    body: z.strictObject({
      worker: WorkerName,
      tasks: list(z.strictObject({ fileId: FileId, epoch: Epoch }), { max: 10_000 }),
    }),
    responses: { 200: data(z.object({ lost: z.array(FileId) })) },
  },
  release: {
    method: 'POST',
    path: '/worker/tasks/:id/release',
    summary: 'Release a lease, so that another worker can claim the generation at once',
    body: z.strictObject({ worker: WorkerName, epoch: Epoch }),
    responses: { 204: NO_BODY },
  },
  getTask: {
    method: 'GET',
    path: '/worker/tasks/:id',
    summary: 'Read a generation, including one that has ended',
    query: z.strictObject({ epoch: z.coerce.number().int().min(1).max(MAX_INT) }),
    responses: { 200: data(WorkerTask) },
  },
  reserveSubmit: {
    method: 'POST',
    path: '/worker/tasks/:id/intend',
    summary: 'Reserve a paid call before it is made; the generation is RUNNING from then on',
    body: z.strictObject({
      epoch: Epoch,
      stage: StageName,
      provider: Provider,
      /** The count of reservations that the worker has read: a further one is deliberate. */
      intents: Intents.min(0),
      /** The idempotency key of this reservation: a retry after a lost answer is granted again. */
      token: z.uuid(),
    }),
    /** Not granted if the call is reserved already, or if another provider is required. */
    responses: { 200: data(z.object({ granted: z.boolean(), stage: Stage, provider: Provider.nullable() })) },
  },
  releaseSubmit: {
    method: 'POST',
    path: '/worker/tasks/:id/withdraw',
    summary: 'Release the reservation of a call that the provider did not accept',
    body: z.strictObject({
      epoch: Epoch,
      stage: StageName,
      /** The number of the reservation, so that a repeated release takes effect once. */
      intents: Intents.min(1),
    }),
    responses: { 204: NO_BODY },
  },
  submitted: {
    method: 'POST',
    path: '/worker/tasks/:id/submitted',
    summary: "Record the provider's reference to an accepted call",
    body: Submitted.extend({ epoch: Epoch, steps: Steps }),
    responses: { 204: NO_BODY },
  },
  progress: {
    method: 'POST',
    path: '/worker/tasks/:id/progress',
    summary: 'Report the progress of a generation',
    body: z.strictObject({ epoch: Epoch, progress: z.number().min(0).max(1), steps: Steps }),
    responses: { 204: NO_BODY },
  },
  startUpload: {
    method: 'POST',
    path: '/worker/tasks/:id/upload.multipart',
    summary: 'Start the upload of the result; replaces an unfinished upload',
    body: z.strictObject({ epoch: Epoch, size: NewUpload.shape.size }),
    responses: { 200: data(z.object({ parts: z.array(UploadPart) })) },
  },
  completeUpload: {
    method: 'POST',
    path: '/worker/tasks/:id/upload.complete',
    summary: 'Complete the upload of the result; its bytes must match the hash',
    body: UploadedParts.extend({ epoch: Epoch, sha256: Sha256, steps: Steps }),
    responses: { 204: NO_BODY },
  },
  storeResult: {
    method: 'POST',
    path: '/worker/tasks/:id/result',
    summary: 'Store a small result and, in the same transaction, record its submit or finish the generation',
    body: z.strictObject({
      epoch: Epoch,
      /** Base64. */
      content: z
        .string()
        .min(1)
        .max(Math.ceil(MAX_DIRECT_RESULT / 3) * 4),
      sha256: Sha256,
      /** For a provider that answers the submit with the result. */
      submitted: Submitted.optional(),
      finish: z.strictObject({ warnings: Warnings }).optional(),
      steps: Steps,
    }),
    responses: { 204: NO_BODY },
  },
  recordSteps: {
    method: 'POST',
    path: '/worker/tasks/:id/timeline',
    summary: 'Record attempts at steps, for the timeline',
    body: z.strictObject({ epoch: Epoch, steps: list(StepRecord, { max: 100 }) }),
    responses: { 204: NO_BODY },
  },
  recordStep: {
    method: 'POST',
    path: '/worker/tasks/:id/steps',
    summary: 'Record an attempt at a step; for workers of releases before `recordSteps`',
    body: z.strictObject({ ...Attempt, epoch: Epoch }),
    responses: { 204: NO_BODY },
  },
  finish: {
    method: 'POST',
    path: '/worker/tasks/:id/finish',
    summary: 'End a generation with its stored result, or with the reason for its failure',
    body: z.strictObject({ epoch: Epoch, outcome: FinishedOutcome, steps: Steps }),
    responses: { 204: NO_BODY },
  },
  claimWebhooks: {
    method: 'POST',
    path: '/worker/webhooks/claim',
    summary: 'Claim webhooks with due deliveries under a lease; waits if there are none',
    body: z.strictObject({
      /** Workers of earlier releases omit it. */
      worker: WorkerName.optional(),
      most: z.number().int().min(1).max(100),
      wait: z.number().min(0).max(30),
    }),
    responses: { 200: data(z.object({ webhooks: z.array(z.object({ webhookId: Uuid, epoch: Epoch })) })) },
  },
  exchangeDeliveries: {
    method: 'POST',
    path: '/worker/webhooks/:id/deliveries',
    summary: 'Record the outcomes of requests to a webhook, and get the next requests; without any, the lease ends',
    body: z.strictObject({
      /** Null takes the webhook over from any holder. */
      epoch: Epoch.nullable(),
      outcomes: list(WebhookOutcome, { max: MAX_WEBHOOK_REQUESTS }),
      /** The maximum of further requests; 0 ends the lease. */
      most: z.number().int().min(0).max(MAX_WEBHOOK_REQUESTS),
    }),
    responses: { 200: data(z.object({ epoch: Epoch, requests: z.array(WebhookRequest) })) },
  },
  ...workerMedia,
} as const satisfies Record<string, Endpoint>;
export type WorkerApi = typeof workerApi;
