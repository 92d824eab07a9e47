import { z } from 'zod';
import { list } from './collections.ts';
import { Timestamp } from './time.ts';

export const MEDIA_KINDS = ['VIDEO', 'IMAGE', 'AUDIO', 'DOCUMENT', 'MODEL'] as const;
export const MediaKind = z.enum(MEDIA_KINDS).meta({ id: 'MediaKind' });
export type MediaKind = z.infer<typeof MediaKind>;

export const MediaStatus = z.enum(['PENDING', 'READY', 'FAILED']).meta({ id: 'MediaStatus' });
export type MediaStatus = z.infer<typeof MediaStatus>;

/**
 * The content is damaged or locked, it exceeds a limit of the decoder, the workers have no decoder for it, or the workers
 * failed repeatedly.
 */
export const MediaErrorCode = z
  .enum(['UNREADABLE', 'LIMIT_EXCEEDED', 'NO_DECODER', 'INTERNAL'])
  .meta({ id: 'MediaErrorCode' });
export type MediaErrorCode = z.infer<typeof MediaErrorCode>;

export const MediaError = z.object({ code: MediaErrorCode, message: z.string() });
export type MediaError = z.infer<typeof MediaError>;

const MAX_INT = 2 ** 31 - 1;
const Count = z.number().int().min(0).max(MAX_INT).nullable();
const Codec = z.string().max(50).nullable();

const Term = z.number().int().min(1).max(MAX_INT);
export const FrameRate = z.object({ numerator: Term, denominator: Term });

/** What a worker has read from the content. A fact that does not apply is null. */
export const MediaFacts = z.object({
  durationMs: Count,
  /** In pixels as shown, after rotation. */
  width: Count,
  height: Count,
  /** The exact rate: 24000/1001 for 23.976. The average if it is variable. */
  frameRate: FrameRate.nullable(),
  variableFrameRate: z.boolean().nullable(),
  frameCount: Count,
  videoCodec: Codec,
  audioCodec: Codec,
  audioChannels: Count,
  hdr: z.boolean().nullable(),
  pageCount: Count,
  triangleCount: Count,
  /** A tiny picture as a data URI, to show while the thumbnail loads. */
  placeholder: z
    .string()
    .max(1024)
    .regex(/^data:image\/webp;base64,[A-Za-z0-9+/]+=*$/)
    .nullable(),
});
export type MediaFacts = z.infer<typeof MediaFacts>;

/**
 * What is known about the content of a file. While it is PENDING, facts are null until a worker has read them. READY with an error
 * has facts and no renditions, because the workers have no decoder.
 */
export const Media = z
  .object({ status: MediaStatus, error: MediaError.nullable(), kind: MediaKind })
  .extend(MediaFacts.shape)
  .meta({ id: 'Media' });
export type Media = z.infer<typeof Media>;

export const RenditionKind = z
  .enum(['THUMBNAIL', 'POSTER', 'FILMSTRIP', 'WAVEFORM', 'PROXY', 'PAGE'])
  .meta({ id: 'RenditionKind' });
export type RenditionKind = z.infer<typeof RenditionKind>;

/** The pictures of a filmstrip: a grid that is read row by row, with one picture per interval. */
export const Filmstrip = z.object({
  columns: z.number().int().min(1).max(100),
  rows: z.number().int().min(1).max(100),
  intervalMs: z.number().int().min(1).max(MAX_INT),
});
export type Filmstrip = z.infer<typeof Filmstrip>;

/** A picture, video or document that was made from the content of a file. */
export const Rendition = z
  .object({
    kind: RenditionKind,
    mimeType: z.string(),
    /** In pixels; null for a waveform. */
    width: z.number().int().nullable(),
    height: z.number().int().nullable(),
    /** In bytes. */
    size: z.number().int(),
    /** Null unless it is a filmstrip. */
    filmstrip: Filmstrip.nullable(),
    /** The number of the page, from 1, if it is of the kind PAGE. */
    page: z.number().int().nullable(),
    /** A presigned URL without a credential. It stays the same for an hour, so that caches work. */
    url: z.string(),
    expiresAt: Timestamp,
  })
  .meta({ id: 'Rendition' });
export type Rendition = z.infer<typeof Rendition>;

/** The most pages of a file that have a PAGE rendition. */
export const MAX_PAGES = 200;

export const MAX_PAGES_PER_REQUEST = 20;

export const Pages = list(z.number().int().min(1).max(65_535), { min: 1, max: MAX_PAGES_PER_REQUEST });

const Bound = z.number().int().min(0).max(MAX_INT).optional();

/** A filter by a number between two bounds, each of which may be missing. */
export const range = (description: string) =>
  z
    .strictObject({ min: Bound.describe('The minimum.'), max: Bound.describe('The maximum.') })
    .optional()
    .describe(description);
