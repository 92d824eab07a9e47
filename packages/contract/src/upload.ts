import { z } from 'zod';
import { ANY_MEMBER } from './access.ts';
import { list } from './collections.ts';
import { created, data, NO_BODY, type Rules } from './endpoint.ts';
import type { EventType } from './event-types.ts';
import type { Subject } from './ids.ts';
import { text } from './text.ts';
import { Timestamp } from './time.ts';

/** The limits of object storages: parts per upload, and bytes per object. */
export const MAX_PARTS = 10_000;
export const MAX_UPLOAD_BYTES = 5 * 1024 ** 4;

/** A display name; content is never stored under it. */
export const FileName = text({ min: 1, max: 255 })
  .regex(/^[^/\\\p{Cc}]*$/u, { error: 'Must not contain path separators or control characters.' })
  // The same pattern without Unicode classes, which many languages do not support.
  .meta({ pattern: '^[^/\\\\\\x00-\\x1f\\x7f-\\x9f]*$' });

/** The default upload limit: 5 GiB. */
export const UPLOAD_LIMIT = 5 * 1024 ** 3;

/** The start request of every upload: of files, comment attachments and generation attachments. */
export const NewUpload = z
  .strictObject({
    name: FileName,
    /** In bytes. The operator can change the documented maximum. */
    size: z.number().int().min(1).max(MAX_UPLOAD_BYTES).meta({ maximum: UPLOAD_LIMIT }),
    mimeType: text({ min: 1, max: 255 }).optional(),
  })
  .meta({ id: 'NewUpload' });
export type NewUpload = z.infer<typeof NewUpload>;

export const UploadPart = z
  .object({
    partNumber: z.number().int(),
    size: z.number().int(),
    /** A presigned URL for a PUT of the bytes without a credential. The answer has an `ETag`. */
    url: z.string(),
  })
  .meta({ id: 'UploadPart' });
export type UploadPart = z.infer<typeof UploadPart>;

const startedUpload = <Id extends z.ZodType<string>>(id: Id) =>
  data(created(id).shape.data.extend({ parts: z.array(UploadPart), expiresAt: Timestamp }));

export const UploadedParts = z
  .strictObject({
    parts: list(
      z.strictObject({ partNumber: z.number().int().min(1).max(MAX_PARTS), eTag: text({ min: 1, max: 255 }) }),
      { min: 1, max: MAX_PARTS },
    ),
  })
  .meta({ id: 'UploadedParts' });
export type UploadedParts = z.infer<typeof UploadedParts>;

/** Fits 10,000 parts with their ETags. */
export const PARTS_BODY_LIMIT = 4 * 1024 * 1024;

/** The start of an upload, without its path and summary. */
export const starting = <Id extends z.ZodType<string>, const R extends Omit<Rules, 'tier'>>(id: Id, rules: R) =>
  ({
    method: 'POST',
    body: NewUpload,
    responses: { 201: startedUpload(id) },
    metadata: { tier: 'tier-3', ...rules },
  }) as const;

const BY_STARTER = { tier: 'tier-3', scopes: [], roles: ANY_MEMBER, only: 'starter' } as const;

/** The completion of an upload, without its path and summary. Only the caller that started the upload can complete it. */
export const completing = <const S extends Subject, const E extends readonly EventType[]>(subject: S, events: E) =>
  ({
    method: 'POST',
    body: UploadedParts,
    responses: { 204: NO_BODY },
    metadata: {
      ...BY_STARTER,
      subject,
      events,
      bodyLimit: PARTS_BODY_LIMIT,
      problems: ['PARTS_MISMATCH', 'UPLOAD_COMPLETED'],
    },
  }) as const;

/** The cancellation of an upload, without its path and summary. */
export const canceling = <const S extends Subject>(subject: S) =>
  ({
    method: 'POST',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: { ...BY_STARTER, subject, events: [], problems: ['UPLOAD_COMPLETED'] },
  }) as const;

/** A presigned URL of the content, which supports ranges and needs no credential. */
export const Download = z.object({ url: z.string(), expiresAt: Timestamp }).meta({ id: 'Download' });
export type Download = z.infer<typeof Download>;
