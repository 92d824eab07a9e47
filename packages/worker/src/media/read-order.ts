import { Filmstrip, MediaErrorCode, MediaFacts, type MediaKind, RenditionKind } from '@review/contract';
import { z } from 'zod';

/**
 * What decodes video and sound: the package node-av, or the FFmpeg of the host at this path, with ffprobe beside it. Without
 * either, only facts are read.
 */
export type Decoder = { name: 'node-av' } | { name: 'ffmpeg'; path: string } | { name: 'none' };

/** What the program of a child process reads, and where it writes renditions. */
export interface ReadOrder {
  kind: MediaKind;
  mimeType: string;
  input: string;
  /** An empty directory. */
  output: string;
  maxPixels: number;
  decoder: Decoder;
  /** The height of the proxy to make, instead of everything else. */
  proxy?: number;
  /** The pages to draw, instead of everything else. */
  pages?: number[];
}

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

/** The answer of the program. It has decoded foreign content, so that its answer is not trusted either. The worker checks it. */
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
