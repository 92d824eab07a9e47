import type { AppRouter } from '@ts-rest/core';
import { z } from 'zod';
import { opaqueJson } from './annotation.ts';
import { list } from './collections.ts';
import { data, NO_BODY } from './endpoint.ts';
import { Engine, GenerationError, GenerationStatus, GenerationStep } from './generation.ts';
import { FileId, ReferenceId } from './ids.ts';
import { Family, OutputType, Provider, VideoSettings } from './models.ts';
import { Timestamp } from './time.ts';
import { NewUpload, UploadedParts, UploadPart } from './upload.ts';

const MAX_INT = 2 ** 31 - 1;
/** Longer ones are cut by the worker. */
const Message = z.string().max(4000);

/** What a worker says of a family of models: it has the provider's key, has none, or one that cannot work. */
export const FamilyState = z.strictObject({
  family: Family,
  state: z.enum(['live', 'sandbox', 'misconfigured']),
  reason: Message.nullable().optional(),
});
export type FamilyState = z.infer<typeof FamilyState>;

const StageName = z.string().min(1).max(50);
const WorkerName = z.string().min(1).max(255);
/** A column of 32 bits holds it. */
const Epoch = z.number().int().min(1).max(MAX_INT);
const Intents = z.number().int().max(MAX_INT);
const Warnings = list(Message, { max: 100 });

/** The last time that a provider refused the account itself: the key, or its balance. */
export const ProviderRefusal = z.strictObject({
  family: Family,
  type: z.enum(['AUTH', 'BALANCE']),
  message: Message,
  at: Timestamp,
});
export type ProviderRefusal = z.infer<typeof ProviderRefusal>;

/** What a worker is and can do, whole: each report replaces the one before. */
const WorkerReport = z.strictObject({
  worker: WorkerName,
  version: z.string().max(100).optional(),
  families: list(FamilyState, { max: 100 }),
  refusals: list(ProviderRefusal, { max: 100 }).optional(),
});
export type WorkerReport = z.infer<typeof WorkerReport>;

const Claim = z.object({ fileId: FileId, family: Family, epoch: Epoch });

/** A paid call on its way: intended, so that it is never made twice, then known by the provider's own reference. */
export const Stage = z.object({
  /** How often the call was intended; more than once only where a repeat is allowed. */
  intents: z.number().int(),
  /** The provider's reference, in the adapter's own form; null until the provider has answered. */
  job: z.unknown(),
});
export type Stage = z.infer<typeof Stage>;

/** A generation as the worker needs to know it. */
export const WorkerTask = z.object({
  fileId: FileId,
  family: Family,
  status: GenerationStatus,
  outputType: OutputType,
  outputModel: z.string(),
  prompt: z.string(),
  configs: VideoSettings.nullable(),
  /** Who has to do it; null leaves it to the worker. */
  provider: Provider.nullable(),
  attachments: z.array(
    z.object({
      id: ReferenceId,
      /** Null when the bytes can no longer be had. */
      content: z.object({ name: z.string(), mimeType: z.string(), size: z.number().int(), url: z.string() }).nullable(),
    }),
  ),
  stages: z.record(z.string(), Stage),
  /** Whether the result is stored already. */
  stored: z.boolean(),
});
export type WorkerTask = z.infer<typeof WorkerTask>;

export const FinishedOutcome = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('SUCCEEDED'), warnings: Warnings }),
  z.strictObject({
    status: z.literal('FAILED'),
    error: GenerationError.extend({ message: Message }).strict(),
    warnings: Warnings,
  }),
]);
export type FinishedOutcome = z.infer<typeof FinishedOutcome>;

/**
 * What a worker may ask the server. Private: the bearer is the worker's token, and no public document shows it.
 * A report under an epoch that has passed, or on a generation that has ended, is 404 and changes nothing.
 */
export const workerApi = {
  register: {
    method: 'POST',
    path: '/worker/hello',
    summary: 'Tell which families have keys, give back leases of a former life, and learn which engine runs',
    body: WorkerReport,
    responses: { 200: data(z.object({ engine: Engine })) },
  },
  heartbeat: {
    method: 'POST',
    path: '/worker/heartbeat',
    summary: 'Stay among the workers that are alive, and tell what has changed',
    body: WorkerReport,
    responses: { 204: NO_BODY },
  },
  claim: {
    method: 'POST',
    path: '/worker/tasks/claim',
    summary: 'Take open generations under a lease; waits for some when there are none',
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
    summary: 'Keep leases; answers with the generations that are no longer the worker’s',
    body: z.strictObject({
      worker: WorkerName,
      tasks: list(z.strictObject({ fileId: FileId, epoch: Epoch }), { max: 10_000 }),
    }),
    responses: { 200: data(z.object({ lost: z.array(FileId) })) },
  },
  release: {
    method: 'POST',
    path: '/worker/tasks/:id/release',
    summary: 'Give a lease back: another worker goes on at once',
    body: z.strictObject({ worker: WorkerName, epoch: Epoch }),
    responses: { 204: NO_BODY },
  },
  getTask: {
    method: 'GET',
    path: '/worker/tasks/:id',
    summary: 'Read a generation, also one that has ended',
    query: z.strictObject({ epoch: z.coerce.number().int().min(1).max(MAX_INT) }),
    responses: { 200: data(WorkerTask) },
  },
  reserveSubmit: {
    method: 'POST',
    path: '/worker/tasks/:id/intend',
    summary: 'Record that a paid call is about to be made; from then on the generation runs',
    body: z.strictObject({
      epoch: Epoch,
      stage: StageName,
      provider: Provider,
      /** How often it was intended before, as far as the worker knows: a repeat is deliberate. */
      intents: Intents.min(0),
      /** Names this intent: asked again because the answer was lost, it is granted again. */
      token: z.uuid(),
    }),
    /** Not granted where the call was intended before, or where another provider has to do it. */
    responses: { 200: data(z.object({ granted: z.boolean(), stage: Stage, provider: Provider.nullable() })) },
  },
  releaseSubmit: {
    method: 'POST',
    path: '/worker/tasks/:id/withdraw',
    summary: 'Take an intent back: the call never left',
    body: z.strictObject({
      epoch: Epoch,
      stage: StageName,
      /** Which intent it was, so that one that is taken back twice is taken back once. */
      intents: Intents.min(1),
    }),
    responses: { 204: NO_BODY },
  },
  submitted: {
    method: 'POST',
    path: '/worker/tasks/:id/submitted',
    summary: "Record the provider's reference of a call that it has accepted",
    body: z.strictObject({
      epoch: Epoch,
      stage: StageName,
      job: opaqueJson({ maxBytes: 100 * 1024, maxDepth: 100 }),
      jobId: z.string().max(4000).nullable(),
    }),
    responses: { 204: NO_BODY },
  },
  progress: {
    method: 'POST',
    path: '/worker/tasks/:id/progress',
    summary: 'Report how far a generation has come',
    body: z.strictObject({ epoch: Epoch, progress: z.number().min(0).max(1) }),
    responses: { 204: NO_BODY },
  },
  startUpload: {
    method: 'POST',
    path: '/worker/tasks/:id/upload.multipart',
    summary: 'Start the upload of the result; one that was started before is forgotten',
    body: z.strictObject({ epoch: Epoch, size: NewUpload.shape.size }),
    responses: { 200: data(z.object({ parts: z.array(UploadPart) })) },
  },
  completeUpload: {
    method: 'POST',
    path: '/worker/tasks/:id/upload.complete',
    summary: 'Complete the upload of the result; its bytes must have the hash',
    body: UploadedParts.extend({ epoch: Epoch, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
    responses: { 204: NO_BODY },
  },
  recordStep: {
    method: 'POST',
    path: '/worker/tasks/:id/steps',
    summary: 'Record an attempt at a step, for the timeline',
    body: z.strictObject({
      ...GenerationStep.pick({ outcome: true }).shape,
      epoch: Epoch,
      name: StageName,
      attempt: z.number().int().min(1).max(MAX_INT),
      message: Message.nullable(),
      milliseconds: z.number().min(0).max(MAX_INT),
    }),
    responses: { 204: NO_BODY },
  },
  finish: {
    method: 'POST',
    path: '/worker/tasks/:id/finish',
    summary: 'End a generation: with its stored result, or with the reason why there is none',
    body: z.strictObject({ epoch: Epoch, outcome: FinishedOutcome }),
    responses: { 204: NO_BODY },
  },
} as const satisfies AppRouter;
export type WorkerApi = typeof workerApi;
