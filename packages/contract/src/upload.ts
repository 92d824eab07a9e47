import { z } from 'zod';
import { list } from './collections.ts';
import { created, data } from './endpoint.ts';
import { text } from './text.ts';
import { Timestamp } from './time.ts';

/** An object store takes no more parts of one upload, and no object larger than 5 TiB. */
export const MAX_PARTS = 10_000;
export const MAX_UPLOAD_BYTES = 5 * 1024 ** 4;

/** A name to show, never a path to store at. */
export const FileName = text({ min: 1, max: 255 })
  .regex(/^[^/\\\p{Cc}]*$/u, { error: 'No path separators and no control characters.' })
  // The same by codes: the regular expressions of many languages know no classes of Unicode.
  .meta({ pattern: '^[^/\\\\\\x00-\\x1f\\x7f-\\x9f]*$' });

/** The largest upload that a host takes unless it is set otherwise: 5 GiB. */
export const UPLOAD_LIMIT = 5 * 1024 ** 3;

/** How every upload starts: files, comment attachments and generation attachments alike. */
export const NewUpload = z.strictObject({
  name: FileName,
  /** In bytes; a host may allow more or less than the documented maximum. */
  size: z.number().int().min(1).max(MAX_UPLOAD_BYTES).meta({ maximum: UPLOAD_LIMIT }),
  mimeType: text({ min: 1, max: 255 }).optional(),
});
export type NewUpload = z.infer<typeof NewUpload>;

export const UploadPart = z.object({
  partNumber: z.number().int(),
  size: z.number().int(),
  /** Signed: takes a PUT of the bytes without a credential and answers with an `ETag`. */
  url: z.string(),
});
export type UploadPart = z.infer<typeof UploadPart>;

export const startedUpload = <Id extends z.ZodType<string>>(id: Id) =>
  data(created(id).shape.data.extend({ parts: z.array(UploadPart), expiresAt: Timestamp }));

export const UploadedParts = z.strictObject({
  parts: list(
    z.strictObject({ partNumber: z.number().int().min(1).max(MAX_PARTS), eTag: text({ min: 1, max: 255 }) }),
    { min: 1, max: MAX_PARTS },
  ),
});
export type UploadedParts = z.infer<typeof UploadedParts>;

/** Ten thousand parts with their ETags must fit. */
export const PARTS_BODY_LIMIT = 4 * 1024 * 1024;

/** Where uploaded bytes can be read, with ranges and without a credential, until the URL expires. */
export const Download = z.object({ url: z.string(), expiresAt: Timestamp });
export type Download = z.infer<typeof Download>;
