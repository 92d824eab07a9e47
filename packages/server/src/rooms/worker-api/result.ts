import { hash, randomUUID } from 'node:crypto';
import { findModel, formatOf, type WorkerApi } from '@review/contract';
import { now } from '../../db/time.ts';
import { inStatement, inTransaction } from '../../db/transaction.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError } from '../../request/problem.ts';
import { hashObject } from '../../storage/hash-object.ts';
import { SNIFFED_BYTES, sniffType } from '../../storage/sniff.ts';
import { type Write, writeWithEvents } from '../events/outbox.ts';
import { findStoredFiles, setFinalStatus } from '../files/queries.ts';
import { endEvent } from '../generation/end.ts';
import { endGeneration, isHeld, setResult } from '../generation/queries.ts';
import type { WorkerHandlers } from '../handler.ts';
import { addMediaTask } from '../media/tasks.ts';
import {
  deleteUploadWith,
  dropUploads,
  findUpload,
  insertResultUpload,
  insertUpload,
  markCompleted,
  scheduleBlobDeletion,
} from '../uploads/queries.ts';
import { completeUpload, ensureStorageUpload, newUploadRow, signParts, uploadExpiry } from '../uploads/upload.ts';
import { changeHeld, finishStep, recordJob, recordSteps, toNewStep, UNSEEN } from './change-held.ts';
import { rebaseUrl } from './tasks.ts';

type ResultHandlers = Pick<WorkerHandlers<WorkerApi>, 'startUpload' | 'completeUpload' | 'storeResult'>;

/** The handlers that store the result of a generation. */
export const resultHandlers = (deps: Deps): ResultHandlers => {
  const { db, storage, queueNotifier, watch } = deps;

  /** Registers a new key before bytes are stored under it, so that no crash leaves an object without a row. */
  async function registerKey(id: string, epoch: number, size: number): Promise<string> {
    const key = newKey(id);
    const row = { id, epoch, storage_key: key, size, created_at: now(), expires_at: uploadExpiry() };
    if (await inStatement(db, (trx) => insertResultUpload(trx, row))) return key;
    await changeHeld(deps, id, { epoch }, async (trx) => {
      await dropUploads(trx, [id], now());
      await setResult(trx, id, null);
      await insertResultUpload(trx, row);
      return UNSEEN;
    });
    return key;
  }

  /**
   * Schedules the deletion of bytes whose row was dropped, or was inserted while the generation ended: the insert does not
   * lock the generation.
   */
  const dropUnregistered = (id: string, epoch: number, key: string) =>
    inTransaction(db, async (trx) => {
      const isRegistered = (await findUpload(trx, id))?.storage_key === key;
      if (isRegistered && (await isHeld(trx, id, epoch))) return;
      await deleteUploadWith(trx, { id, key });
      await scheduleBlobDeletion(trx, [{ key, upload: null }], now());
    });

  return {
    async startUpload({ id, body: { epoch, size }, base }) {
      await changeHeld(deps, id, { epoch }, async (trx, held) => {
        await dropUploads(trx, [id], now());
        await setResult(trx, id, null);
        const file = (await findStoredFiles(trx, [id])).get(id);
        if (file === undefined) throw new ProblemError('NOT_FOUND');
        const model = findModel(held.output_model);
        const asked = { name: id, size, mimeType: model && formatOf(model).mimeType };
        const row = newUploadRow(deps, { id, projectId: file.project_id, startedBy: file.created_by, asked });
        await insertUpload(trx, { ...row, storage_key: newKey(id) });
        return UNSEEN;
      });
      const parts = await signParts(deps, await ensureStorageUpload(deps, id));
      return { data: { parts: parts.map((part) => ({ ...part, url: rebaseUrl(deps, part.url, base) })) } };
    },

    async completeUpload({ id, body: { epoch, parts, sha256, steps } }) {
      const write: Write = (work) => changeHeld(deps, id, { epoch }, work);
      // Checked before the storage is called, because the open upload may belong to a later epoch.
      if (!(await isHeld(db, id, epoch))) throw new ProblemError('NOT_FOUND');
      await completeUpload(deps, write, id, { parts });
      const upload = await findUpload(db, id);
      if (upload?.mime_type == null) throw new ProblemError('NOT_FOUND');
      const { storage_key: storageKey, size, mime_type: mimeType } = upload;
      const found = await hashObject(storage, storageKey);
      await changeHeld(deps, id, { epoch, steps }, async (trx, held) => {
        // The upload was restarted meanwhile; the sweep deletes this blob.
        if ((await findUpload(trx, id))?.storage_key !== storageKey) throw new ProblemError('UPLOAD_COMPLETED');
        requireType(mimeType, held.output_model);
        requireSameHash(found, sha256);
        await setResult(trx, id, { storageKey, size, mimeType, sha256 });
        return UNSEEN;
      });
    },

    async storeResult({ id, body: { epoch, content, sha256, submitted, finish, steps = [] } }) {
      const startedAt = now();
      const bytes = Buffer.from(content, 'base64');
      requireSameHash(hash('sha256', bytes), sha256);
      const storageKey = await registerKey(id, epoch, bytes.length);
      await storage.put(storageKey, bytes);
      const resultOf = async (outputModel: string) => ({
        storageKey,
        size: bytes.length,
        mimeType: await typeOf(bytes, outputModel),
        sha256,
      });

      const keep = () =>
        changeHeld(deps, id, { epoch, steps }, async (trx, held) => {
          const { mimeType, ...result } = await resultOf(held.output_model);
          if ((await findUpload(trx, id))?.storage_key !== storageKey) throw new ProblemError('UPLOAD_COMPLETED');
          await markCompleted(trx, { id, key: storageKey, completed_with: sha256, mime_type: mimeType });
          await setResult(trx, id, { ...result, mimeType });
          if (submitted !== undefined) await recordJob(trx, held, submitted);
          return UNSEEN;
        });

      const end = (warnings: string[]) =>
        writeWithEvents(deps, null, async (trx) => {
          const at = now();
          const ending = { status: 'SUCCEEDED', warnings } as const;
          const ended = await endGeneration(trx, id, ending, at, epoch);
          if (ended === undefined) throw new ProblemError('NOT_FOUND');
          const { mimeType, size } = await resultOf(ended.output_model);
          if (!(await deleteUploadWith(trx, { id, key: storageKey }))) throw new ProblemError('UPLOAD_COMPLETED');
          await recordSteps(trx, id, [...steps.map(toNewStep), finishStep(startedAt, at)]);
          const stored = { storage_key: storageKey, mime_type: mimeType, size, sha256 };
          const file = await setFinalStatus(trx, id, 'GENERATING', { status: 'UPLOADED', ...stored }, at);
          if (file === undefined) return UNSEEN;
          await addMediaTask(trx, { id, ...file, mime_type: mimeType });
          return { answer: undefined, events: [endEvent(file.project_id, id, ending)] };
        });

      await (finish === undefined ? keep() : end(finish.warnings)).catch(async (error: unknown) => {
        // After any other error the transaction may have been committed.
        if (error instanceof ProblemError) await dropUnregistered(id, epoch, storageKey);
        throw error;
      });
      if (finish === undefined) return;
      watch.changed(id);
      queueNotifier.notify();
    },
  };
};

const newKey = (fileId: string): string => `${fileId}-${randomUUID()}`;

/** Detects the type of the content, and requires that the model makes it. */
async function typeOf(bytes: Buffer, outputModel: string): Promise<string> {
  const model = findModel(outputModel);
  const declared = model === undefined ? null : formatOf(model).mimeType;
  const mimeType = await sniffType(bytes.subarray(0, SNIFFED_BYTES), declared);
  requireType(mimeType, outputModel);
  return mimeType;
}

function requireType(mimeType: string, outputModel: string): void {
  const model = findModel(outputModel);
  if (model !== undefined && formatOf(model).accepts.test(mimeType)) return;
  throw resultMismatch(`The result has the type ${mimeType}, which ${outputModel} does not make.`);
}

function requireSameHash(found: string, expected: string): void {
  if (found !== expected) throw resultMismatch('The SHA-256 of the stored result differs from that of the request.');
}

const resultMismatch = (detail: string) => new ProblemError('PARTS_MISMATCH', { detail });
