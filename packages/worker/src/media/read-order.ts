// Only a part of the contract: each file is read by a new process, and loading all of it takes as long as the rest of the start.
import { Filmstrip, MediaErrorCode, MediaFacts, MediaKind, RenditionKind } from '@review/contract/media';
import { z } from 'zod';

/**
 * What decodes video and sound: the package node-av, or the FFmpeg of the host at this path, with ffprobe beside it. Without
 * either, only facts are read.
 */
const Decoder = z.discriminatedUnion('name', [
  z.object({ name: z.literal('node-av') }),
  z.object({ name: z.literal('ffmpeg'), path: z.string() }),
  z.object({ name: z.literal('none') }),
]);
export type Decoder = z.infer<typeof Decoder>;

/** What the program of a child process reads, and where it writes renditions. */
export const ReadOrder = z.object({
  kind: MediaKind,
  mimeType: z.string(),
  input: z.string(),
  /** An empty directory. */
  output: z.string(),
  maxPixels: z.number(),
  decoder: Decoder,
  /** The height of the proxy to make, instead of everything else. */
  proxy: z.number().int().optional(),
  /** The pages to draw, instead of everything else. */
  pages: z.array(z.number().int()).optional(),
});
export type ReadOrder = z.infer<typeof ReadOrder>;

/** A file in the output directory. */
const MadeFile = z.object({
  kind: RenditionKind,
  variant: z.number().int(),
  file: z.string().regex(/^[a-z0-9-]{1,40}\.(webp|json|mp4)$/),
  mimeType: z.enum(['image/webp', 'application/json', 'video/mp4']),
  width: z.number().int().nullable(),
  height: z.number().int().nullable(),
  filmstrip: Filmstrip.nullable(),
});
export type MadeFile = z.infer<typeof MadeFile>;

const Reason = z.object({ code: MediaErrorCode, message: z.string().max(1000) });

/** The answer of the program. It has decoded foreign content, so that its answer is not trusted either. */
export const ReadAnswer = z.union([
  z.object({
    facts: MediaFacts,
    files: z.array(MadeFile).max(20),
    /** The heights of the proxies that are to be made. */
    proxies: z.array(z.number().int()).max(5).optional(),
    /** Why there are only facts. */
    incomplete: Reason.optional(),
  }),
  z.object({ refused: Reason }),
  /** An error of the program itself, with its stack. */
  z.object({ fault: z.string().max(4000) }),
]);
export type ReadAnswer = z.infer<typeof ReadAnswer>;
export type ReadResult = Extract<ReadAnswer, { files: MadeFile[] }>;

/** The content cannot be read. The message is for people. */
export class Refused extends Error {
  override name = 'Refused';
  readonly code: MediaErrorCode;

  constructor(code: MediaErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
