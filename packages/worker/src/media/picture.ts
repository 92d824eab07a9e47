import { z } from 'zod';
import { DecodeError, type Limits, runApart } from './run-apart.ts';
import { Slots } from './slots.ts';

export interface PictureOrder {
  /** As the server found it in the first bytes. */
  mimeType: string;
  /** Types that stay as they are; any other becomes a PNG. */
  types: readonly string[];
  mostPixels: number;
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

/** A small file can hold a picture of any size. */
const MOST_PIXELS = 60_000_000;
const LIMITS: Limits = { milliseconds: 15_000, memoryMegabytes: 1024, outputBytes: 100 * 1024 * 1024 };

/** Drawings are programs: a few hundred bytes can ask for hours. They get a place of their own, so that photos never wait for them. */
const drawings = new Slots(1);
const photos = new Slots(2);

/**
 * After that the step is retried later. A picture is read within the submit step, of which a worker runs four at once: waiting
 * here keeps orders without pictures from being placed.
 */
const MOST_WAIT_MS = 1000;

/** What a picture of foreign origin is, by its bytes; as a PNG where its type is not among those taken. */
export async function readPicture(
  given: { bytes: Buffer; mimeType: string },
  types: readonly string[],
  signal: AbortSignal,
  limits: Limits = LIMITS,
): Promise<Picture> {
  const order: PictureOrder = { mimeType: given.mimeType, types, mostPixels: MOST_PIXELS };
  const job = { program: 'picture-program', words: [JSON.stringify(order)], input: given.bytes, limits, signal };
  const patience = AbortSignal.any([signal, AbortSignal.timeout(MOST_WAIT_MS)]);
  const slots = given.mimeType === 'image/svg+xml' ? drawings : photos;
  const output = await slots.run(patience, () => runApart(job));
  const end = output.indexOf('\n');
  const head = PictureHead.parse(JSON.parse(output.toString('utf8', 0, end)));
  if ('refused' in head) throw new DecodeError(head.refused);
  const made = output.subarray(end + 1);
  return { ...head, bytes: made.length > 0 ? made : given.bytes };
}
