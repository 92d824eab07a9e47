import { buffer } from 'node:stream/consumers';
import type { NewUpload, UploadedParts, UploadPart } from '@review/contract';
import { newId } from '../db/ids.ts';
import type { Writer } from '../db/schema.ts';
import { now, secondsFromNow } from '../db/time.ts';
import type { Deps } from '../deps.ts';
import { ProblemError } from '../http/problem.ts';
import { sniffType } from '../storage/sniff.ts';
import { PartsMismatch } from '../storage/storage.ts';
import { countParts, everyPartOnce, fingerprintOf, planParts } from './parts.ts';
import {
  findUpload,
  insertUpload,
  markCompleted,
  type NewUploadRow,
  setStorageUpload,
  type Upload,
} from './queries.ts';

/** Unfinished uploads, and attachments that nothing uses, are swept after this long. */
const UPLOAD_SECONDS = 24 * 60 * 60;
const SNIFFED_BYTES = 4100;

type Write = <T>(work: (trx: Writer) => Promise<T>) => Promise<T>;

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

/** Starts an upload of any kind; `beside` writes what its kind needs, in the same transaction. */
export async function startUpload(
  deps: Deps,
  write: Write,
  { prefix, projectId, startedBy, asked }: NewUploadRequest,
  beside: (trx: Writer, id: string) => Promise<void> = async () => {},
): Promise<StartedUpload> {
  if (asked.size > deps.config.uploadLimit) throw tooLarge(deps.config.uploadLimit);
  const { id } = await write(async (trx) => {
    const id = newId(prefix);
    await beside(trx, id);
    await insertUpload(trx, newUploadRow(deps, { id, projectId, startedBy, asked }));
    return { id };
  });
  const upload = await begunUpload(deps, id);
  return { id, parts: await signedParts(deps, upload), expiresAt: upload.expiresAt };
}

export const newUploadRow = (
  { config }: Deps,
  { id, projectId, startedBy, asked }: { id: string; projectId: string; startedBy: string; asked: NewUpload },
): NewUploadRow => ({
  id,
  projectId,
  startedBy,
  name: asked.name,
  declaredType: asked.mimeType ?? null,
  size: asked.size,
  partCount: countParts(asked.size, config.uploadPartSize),
  storageKey: id,
  createdAt: now(),
  expiresAt: secondsFromNow(UPLOAD_SECONDS),
});

/** The upload, begun in the storage: only after the commit, so that nothing waits for the storage in a transaction. */
export async function begunUpload(deps: Deps, id: string): Promise<Upload & { storageUpload: string }> {
  const { db, storage } = deps;
  const upload = await findUpload(db, id);
  if (upload === undefined) throw new ProblemError('NOT_FOUND');
  if (upload.storageUpload !== null) return { ...upload, storageUpload: upload.storageUpload };
  const storageUpload = await storage.begin(upload.storageKey);
  if (await setStorageUpload(db, id, storageUpload)) return { ...upload, storageUpload };
  await storage.abort({ key: upload.storageKey, upload: storageUpload });
  return begunUpload(deps, id);
}

export async function signedParts(
  { storage }: Deps,
  upload: Upload & { storageUpload: string },
): Promise<UploadPart[]> {
  const target = { key: upload.storageKey, upload: upload.storageUpload };
  const signed: UploadPart[] = [];
  for (const part of planParts(upload.size, upload.partCount)) {
    signed.push({ ...part, url: await storage.partUrl(target, part, UPLOAD_SECONDS) });
  }
  return signed;
}

/**
 * Completes an upload; the same again changes nothing. The storage goes first: what it has made once, it makes again from
 * the same parts, so a crash before the commit only means that the caller asks again.
 */
export async function completeUpload(
  { db, storage }: Deps,
  write: Write,
  id: string,
  asked: UploadedParts,
  beside: (trx: Writer, upload: Upload, mimeType: string) => Promise<void> = async () => {},
): Promise<StoredBytes> {
  const upload = await findUpload(db, id);
  if (upload?.storageUpload == null) throw new ProblemError('UPLOAD_COMPLETED');
  const parts = everyPartOnce(asked.parts, upload.partCount);
  const completedWith = parts && fingerprintOf(parts);
  if (upload.completedWith !== null) {
    if (upload.completedWith === completedWith) return storedBytes(upload, upload.mimeType);
    throw new ProblemError('UPLOAD_COMPLETED');
  }
  if (parts === null || completedWith === null) throw partsMismatch(upload.partCount);
  try {
    await storage.complete({ key: upload.storageKey, upload: upload.storageUpload }, parts, upload.size);
  } catch (error) {
    throw error instanceof PartsMismatch ? partsMismatch(upload.partCount) : error;
  }
  const firstBytes = await buffer(await storage.read(upload.storageKey, { length: SNIFFED_BYTES }));
  const mimeType = await sniffType(firstBytes, upload.declaredType);
  await write(async (trx) => {
    if (!(await markCompleted(trx, id, { completedWith, mimeType }))) throw new ProblemError('UPLOAD_COMPLETED');
    await beside(trx, upload, mimeType);
  });
  return storedBytes(upload, mimeType);
}

export interface StoredBytes {
  storageKey: string;
  size: number;
  mimeType: string;
}

const storedBytes = ({ storageKey, size }: Upload, mimeType: string | null): StoredBytes => ({
  storageKey,
  size,
  mimeType: mimeType ?? 'application/octet-stream',
});

const tooLarge = (limit: number) =>
  new ProblemError('INVALID_REQUEST', {
    detail: '1 field is not valid.',
    errors: [{ pointer: '/size', code: 'TOO_LARGE', message: `At most ${limit}.` }],
  });

const partsMismatch = (count: number) =>
  new ProblemError('PARTS_MISMATCH', {
    detail: `Name each of the ${count} parts once, with the ETag that its upload answered.`,
  });
