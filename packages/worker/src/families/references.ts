import { promptReferences, type WorkerTask } from '@review/contract';
import { readPicture } from '../media/picture.ts';
import { DecodeError } from '../media/run-isolated.ts';
import { StepError } from '../step-error.ts';
import type { Call } from './family.ts';

/** An attachment with its bytes. Lists keep the order of the request. */
export interface Reference {
  id: string;
  name: string;
  mimeType: string;
  bytes: Buffer;
}

/** A provider's limits for pictures. */
export interface PictureLimits {
  types: readonly string[];
  maxBytes: number;
  /** The limit for all pictures of a request together. */
  maxTotalBytes?: number;
  side?: { min: number; max?: number };
  /** Width to height. */
  ratio?: { min: number; max: number };
}

/** Reads the attachments one after another, to bound the memory that concurrent generations use. */
export async function readReferences({ task, signal }: Call): Promise<Reference[]> {
  const references: Reference[] = [];
  for (const attachment of task.attachments) references.push(await readReference(attachment, signal));
  return references;
}

/** Above the limit of every provider, and small enough for memory. */
const MAX_BYTES = 100 * 1024 * 1024;

async function readReference(
  { id, content }: WorkerTask['attachments'][number],
  signal: AbortSignal,
): Promise<Reference> {
  if (content === null) throw unreadableError(id);
  if (content.size > MAX_BYTES)
    throw unfitError({ id }, `has more than ${inMegabytes(MAX_BYTES)} MB, the limit of every provider.`);
  const response = await fetch(content.url, { signal }).catch(() => null);
  if (response === null || response.status >= 500) throw new StepError('AWAY', 'The storage does not answer.');
  if (!response.ok) throw unreadableError(id);
  const bytes = await response.arrayBuffer().catch(() => {
    throw new StepError('AWAY', 'The connection to the storage broke.');
  });
  return { id, name: content.name, mimeType: content.mimeType, bytes: Buffer.from(bytes) };
}

const unreadableError = (id: string) =>
  new StepError('ATTACHMENT_UNREADABLE', `The attachment ${id} can no longer be read. Attach it again.`);

/** Returns the attachments as pictures of the types in `limits`. Other types are converted to PNG. */
export async function readPictures(call: Call, vendor: string, limits: PictureLimits): Promise<Reference[]> {
  const pictures: Reference[] = [];
  for (const attachment of call.task.attachments) {
    pictures.push(await readFittingPicture(await readReference(attachment, call.signal), vendor, limits, call.signal));
  }
  const { maxTotalBytes: most = Number.POSITIVE_INFINITY } = limits;
  if (pictures.reduce((sum, { bytes }) => sum + bytes.length, 0) > most) {
    throw new StepError(
      'INVALID_INPUT',
      `The attachments together have more than the ${inMegabytes(most)} MB that ${vendor} takes.`,
    );
  }
  return pictures;
}

const inMegabytes = (bytes: number): number => Math.floor(bytes / 1024 / 1024);

async function readFittingPicture(
  given: Reference,
  vendor: string,
  limits: PictureLimits,
  signal: AbortSignal,
): Promise<Reference> {
  if (!given.mimeType.startsWith('image/'))
    throw unfitError(given, `is ${given.mimeType}; ${vendor} takes only pictures.`);
  // The type comes from the bytes, because a provider may refuse a picture that is not of its declared type.
  const { type, width, height, bytes } = await readPicture(given, limits.types, signal).catch(
    asStepError(given, signal),
  );
  const picture = { ...given, mimeType: type, bytes };
  const { maxBytes, side, ratio } = limits;
  if (picture.bytes.length > maxBytes) {
    throw unfitError(given, `has more than the ${inMegabytes(maxBytes)} MB that ${vendor} takes.`);
  }
  if (side && (Math.min(width, height) < side.min || Math.max(width, height) > (side.max ?? Number.MAX_VALUE))) {
    const taken = side.max === undefined ? `${side.min} pixels and more` : `${side.min} to ${side.max} pixels`;
    throw unfitError(given, `is ${width}x${height}; ${vendor} takes sides of ${taken}.`);
  }
  if (ratio && (width / height < ratio.min || width / height > ratio.max)) {
    throw unfitError(
      given,
      `is ${width}x${height}; ${vendor} takes width to height from ${ratio.min} to ${ratio.max}.`,
    );
  }
  return picture;
}

/** Maps every error to a `StepError` that is not AMBIGUOUS_SUBMIT, because nothing has been submitted yet. */
const asStepError =
  ({ id }: Reference, signal: AbortSignal) =>
  (error: unknown): never => {
    if (error instanceof DecodeError) {
      const advice = 'Attach it as a PNG or JPEG of fewer pixels.';
      throw new StepError('ATTACHMENT_UNREADABLE', `The attachment ${id} ${error.message}. ${advice}`);
    }
    if (signal.aborted) throw new StepError('INTERNAL', `The step timed out while it read ${id}.`);
    const isBusy = error instanceof DOMException && error.name === 'TimeoutError';
    throw isBusy
      ? new StepError('AWAY', 'The worker is busy with other attachments.')
      : new StepError('INTERNAL', `The attachment ${id} could not be read: ${String(error)}`);
  };

const unfitError = ({ id }: Pick<Reference, 'id'>, what: string) =>
  new StepError('INVALID_INPUT', `The attachment ${id} ${what}`);

export const dataUri = ({ mimeType, bytes }: Reference): string =>
  `data:${mimeType};base64,${bytes.toString('base64')}`;

/** Returns the prompt with each `<#id>` replaced by the provider's name of that attachment; positions count from 1. */
export function replaceReferences({ prompt, attachments }: WorkerTask, nameOf: (position: number) => string): string {
  let text = prompt;
  for (const id of promptReferences(prompt)) {
    const index = attachments.findIndex((attachment) => attachment.id === id);
    if (index >= 0) text = text.replaceAll(`<#${id}>`, nameOf(index + 1));
  }
  return text.trim();
}
