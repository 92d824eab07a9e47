import { z } from 'zod';
import { Semaphore } from '../semaphore.ts';
import { DecodeError, type Limits, runIsolated } from './run-isolated.ts';

export interface PictureOrder {
  /** The type that the server detected from the first bytes. */
  mimeType: string;
  /** Types that are kept; any other is converted to PNG. */
  types: readonly string[];
  maxPixels: number;
}

interface Picture {
  type: string;
  width: number;
  height: number;
  bytes: Buffer;
}

const PictureHead = z.union([
  z.object({ type: z.string(), width: z.number(), height: z.number() }),
  z.object({ refused: z.string() }),
]);
export type PictureHead = z.infer<typeof PictureHead>;

/** The pixel count is limited on its own, because a small file can decode to a huge picture. */
const MAX_PIXELS = 60_000_000;
const LIMITS: Limits = { milliseconds: 15_000, memoryMegabytes: 1024, outputBytes: 100 * 1024 * 1024 };

/** SVG drawings have their own semaphore: a few hundred bytes can take hours to render, and photos must not wait for that. */
const drawings = new Semaphore(1);
const photos = new Semaphore(2);

/**
 * The maximum wait for the semaphore; then the step is retried later. A picture is read within the submit step, of which a
 * worker runs four at once: a longer wait here would block submits without pictures.
 */
const MAX_WAIT_MS = 1000;

/** Decodes an untrusted picture and returns its type and size. A type outside `types` is converted to PNG. */
export async function readPicture(
  given: { bytes: Buffer; mimeType: string },
  types: readonly string[],
  signal: AbortSignal,
  limits: Limits = LIMITS,
): Promise<Picture> {
  const order: PictureOrder = { mimeType: given.mimeType, types, maxPixels: MAX_PIXELS };
  const job = { program: 'picture-program', words: [JSON.stringify(order)], input: given.bytes, limits, signal };
  const waitSignal = AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)]);
  const semaphore = given.mimeType === 'image/svg+xml' ? drawings : photos;
  const output = await semaphore.run(() => runIsolated(job), waitSignal);
  const end = output.indexOf('\n');
  const head = PictureHead.parse(JSON.parse(output.toString('utf8', 0, end)));
  if ('refused' in head) throw new DecodeError(head.refused);
  const made = output.subarray(end + 1);
  return { ...head, bytes: made.length > 0 ? made : given.bytes };
}
