import { isContentError } from './content-error.ts';
// Only types: each file is read by a new process, and to load zod would take most of its start.
import type { ReadAnswer, ReadOrder, ReadResult } from './read-order.ts';
import { Refused } from './refused.ts';

const [given = ''] = process.argv.slice(2);

/** Decoders are loaded on demand, because each brings a native library. */
async function read(order: ReadOrder): Promise<ReadResult> {
  if (order.proxy !== undefined) return (await import('./write-proxy.ts')).writeProxy(order, order.proxy);
  if (order.pages !== undefined) return (await import('./read-document.ts')).drawPages(order, order.pages);
  if (order.kind === 'IMAGE') return (await import('./read-image.ts')).readImage(order);
  if (order.kind === 'DOCUMENT') return (await import('./read-document.ts')).readDocument(order);
  if (order.kind === 'MODEL') return (await import('./read-model.ts')).readModel(order);
  return (await import('./read-video.ts')).readVideo(order);
}

const DAMAGED = 'The file is damaged, or not of the type that it seems to be.';
const MAX_FAULT = 4000;

function answerTo(error: unknown, { maxPixels }: ReadOrder): ReadAnswer {
  if (error instanceof Refused) return { refused: { code: error.code, message: error.message } };
  const message = `The picture has more than ${maxPixels / 1e6} megapixels.`;
  if (String(error).includes('pixel limit')) return { refused: { code: 'LIMIT_EXCEEDED', message } };
  if (isContentError(error)) return { refused: { code: 'UNREADABLE', message: DAMAGED } };
  return { fault: (error instanceof Error && error.stack ? error.stack : String(error)).slice(0, MAX_FAULT) };
}

const order: ReadOrder = JSON.parse(given);
const answer = await read(order).catch((error: unknown) => answerTo(error, order));
process.stdout.write(JSON.stringify(answer));
