import { buffer } from 'node:stream/consumers';
import type { EventType, NewUpload, UploadedParts, UploadPart } from '@review/contract';
import { newId } from '../../db/ids.ts';
import type { Writer } from '../../db/schema.ts';
import { now, secondsFromNow } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError } from '../../request/problem.ts';
import { SNIFFED_BYTES, sniffType } from '../../storage/sniff.ts';
import { NoSuchObject, PartsMismatch, type Storage } from '../../storage/storage.ts';
import type { NewEvent, Write } from '../events/outbox.ts';
import { countParts, fingerprintOf, normalizeParts, planParts } from './parts.ts';
import {
  findUpload,
  insertUpload,
  markCompleted,
  type NewUploadRow,
  recordCompletion,
  setStorageUpload,
  type Upload,
} from './queries.ts';

/** The sweep deletes unfinished uploads and unused attachments after this time. */
const UPLOAD_SECONDS = 24 * 60 * 60;

interface NewUploadRequest {
  prefix: 'FX' | 'CA' | 'GA';
  projectId: string;
  startedBy: string;
  asked: NewUpload;
}

interface StartedUpload {
  id: string;
  parts: UploadPart[];
  expiresAt: string;
}

/** Starts an upload. `beside` writes related rows in the same transaction, and returns their events. */
export async function startUpload<E extends EventType>(
  deps: Deps,
  write: Write<E>,
  { prefix, projectId, startedBy, asked }: NewUploadRequest,
  beside: (trx: Writer, id: string) => Promise<NewEvent<E>[]> = async () => [],
): Promise<StartedUpload> {
  if (asked.size > deps.config.uploadLimit) throw tooLarge(deps.config.uploadLimit);
  const { id } = await write(async (trx) => {
    const id = newId(prefix);
    const events = await beside(trx, id);
    await insertUpload(trx, newUploadRow(deps, { id, projectId, startedBy, asked }));
    return { answer: { id }, events };
  });
  const upload = await ensureStorageUpload(deps, id);
  return { id, parts: await signParts(deps, upload), expiresAt: upload.expires_at };
}

export const newUploadRow = (
  { config }: Deps,
  { id, projectId, startedBy, asked }: { id: string; projectId: string; startedBy: string; asked: NewUpload },
): NewUploadRow => ({
  id,
  project_id: projectId,
  started_by: startedBy,
  name: asked.name,
  declared_type: asked.mimeType ?? null,
  size: asked.size,
  part_count: countParts(asked.size, config.uploadPartSize),
  storage_key: id,
  created_at: now(),
  expires_at: uploadExpiry(),
});

export const uploadExpiry = (): string => secondsFromNow(UPLOAD_SECONDS);

type StartedInStorage = Upload & { storage_upload: string };

/** Starts the upload in the storage if it has not started there. Not in the transaction, which must not wait for the storage. */
export async function ensureStorageUpload(deps: Deps, id: string): Promise<StartedInStorage> {
  const { db, storage } = deps;
  const upload = await findUpload(db, id);
  if (upload === undefined) throw new ProblemError('NOT_FOUND');
  if (upload.storage_upload !== null) return { ...upload, storage_upload: upload.storage_upload };
  const storageUpload = await storage.begin(upload.storage_key);
  if (await setStorageUpload(db, { id, storageUpload })) return { ...upload, storage_upload: storageUpload };
  await storage.abort({ key: upload.storage_key, upload: storageUpload });
  return ensureStorageUpload(deps, id);
}

export async function signParts({ storage }: Deps, upload: StartedInStorage): Promise<UploadPart[]> {
  const target = { key: upload.storage_key, upload: upload.storage_upload };
  const signed: UploadPart[] = [];
  let offset = 0;
  for (const part of planParts(upload.size, upload.part_count)) {
    // The only part of an upload becomes the object as it is.
    const placed = upload.part_count > 1 ? { ...part, offset } : part;
    signed.push({ ...part, url: await storage.partUrl(target, placed, UPLOAD_SECONDS) });
    offset += part.size;
  }
  return signed;
}

/**
 * Completes an upload. Returns it, or null if an earlier call with the same parts completed it. Completes the object in the
 * storage first, which is idempotent, so that the caller can retry after a crash before the commit.
 */
export async function completeUpload<E extends EventType>(
  { db, storage }: Deps,
  write: Write<E>,
  id: string,
  asked: UploadedParts,
  beside: (trx: Writer, upload: Upload, mimeType: string) => Promise<NewEvent<E>[]> = async () => [],
): Promise<Upload | null> {
  const upload = await findUpload(db, id);
  if (upload === undefined) throw new ProblemError('UPLOAD_COMPLETED');
  const parts = normalizeParts(asked.parts, upload.part_count);
  const completedWith = parts && fingerprintOf(parts);
  if (upload.completed_with !== null) {
    if (upload.completed_with === completedWith) return null;
    throw new ProblemError('UPLOAD_COMPLETED');
  }
  if (parts === null || completedWith === null || upload.storage_upload === null)
    throw partsMismatch(upload.part_count);
  const target = { key: upload.storage_key, upload: upload.storage_upload };
  await recordCompletion(db, { id, completingWith: completedWith });
  try {
    const outcome = await storage.complete(target, parts, upload.size);
    // An earlier call made the object. It has these parts only if no call had other parts.
    const isOurs = outcome === 'made' || (await findUpload(db, id))?.completing_with === completedWith;
    if (!isOurs) throw new ProblemError('UPLOAD_COMPLETED');
  } catch (error) {
    if (!(error instanceof PartsMismatch)) throw error;
    // A concurrent cancel may have deleted the upload.
    if ((await findUpload(db, id)) === undefined) throw new ProblemError('UPLOAD_COMPLETED');
    throw partsMismatch(upload.part_count);
  }
  const mimeType = await sniffType(await firstBytesOf(storage, upload.storage_key), upload.declared_type);
  const isFirst = await write(async (trx) => {
    const outcome = { completed_with: completedWith, mime_type: mimeType };
    if (await markCompleted(trx, { id, key: upload.storage_key, ...outcome })) {
      return { answer: true, events: await beside(trx, upload, mimeType) };
    }
    // A concurrent call with the same parts has completed the upload.
    if ((await findUpload(trx, id))?.completed_with === completedWith) return { answer: false, events: [] };
    throw new ProblemError('UPLOAD_COMPLETED');
  });
  return isFirst ? upload : null;
}

async function firstBytesOf(storage: Storage, key: string): Promise<Buffer> {
  try {
    return await buffer(await storage.read(key, { length: SNIFFED_BYTES }));
  } catch (error) {
    // The upload was canceled and swept concurrently.
    throw error instanceof NoSuchObject ? new ProblemError('UPLOAD_COMPLETED') : error;
  }
}

const tooLarge = (limit: number) =>
  new ProblemError('INVALID_REQUEST', {
    detail: '1 field is not valid.',
    errors: [{ pointer: '/size', code: 'TOO_LARGE', message: `Must be at most ${limit} bytes.` }],
  });

const partsMismatch = (count: number) =>
  new ProblemError('PARTS_MISMATCH', {
    detail: `List each of the ${count} parts once, with the ETag of the response to its PUT.`,
  });
