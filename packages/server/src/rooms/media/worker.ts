import { randomUUID } from 'node:crypto';
import type { MediaError, MediaTask, WorkerMedia } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError } from '../../request/problem.ts';
import { type NewEvent, type Write, type Written, writeWithEvents } from '../events/outbox.ts';
import { findStoredFiles } from '../files/queries.ts';
import type { WorkerHandlers } from '../handler.ts';
import { URL_SECONDS } from '../uploads/download.ts';
import { abortDropped } from '../uploads/drop.ts';
import { deleteUploadWith, dropUploads, insertUpload } from '../uploads/queries.ts';
import { completeUpload, ensureStorageUpload, newUploadRow, signParts } from '../uploads/upload.ts';
import { rebaseUrl } from '../worker-api/tasks.ts';
import { waitForClaims } from '../worker-api/wait-for-claims.ts';
import { isDraining } from '../workers/queries.ts';
import { warnAboutDifferences } from './ordered.ts';
import type { StoredMedia } from './queries.ts';
import { dropOtherBuilds, dropRenditionUploads, listNames, replaceRendition, uploadIdOf } from './renditions.ts';
import { beginAttempt, claimDueMedia, endMedia, holdMedia, releaseMedia, setFacts, setThumbnail } from './tasks.ts';

const LEASE_SECONDS = 30;
const MAX_ATTEMPTS = 3;

const NOTHING: Written<undefined> = { answer: undefined, events: [] };

/** The part of the worker API that reads media and stores renditions. Changes need the epoch that the worker has claimed. */
export const mediaWorkerHandlers = (deps: Deps): WorkerHandlers<WorkerMedia> => {
  const { db, clock, storage } = deps;

  const changeHeld = <T>(
    fileId: string,
    epoch: number,
    work: (trx: Writer, held: StoredMedia) => Promise<Written<T>>,
  ): Promise<T> =>
    writeWithEvents(deps, null, async (trx) => {
      const held = await holdMedia(trx, { fileId, epoch, leaseUntil: clock(LEASE_SECONDS) });
      if (held === undefined) throw new ProblemError('NOT_FOUND');
      return work(trx, held);
    });

  return {
    async claimMedia({ body: { worker, most: limit, wait }, disconnected }) {
      const due = () => claimDueMedia(db, { now: clock(), leaseUntil: clock(LEASE_SECONDS), limit });
      const claim = async () => ((await isDraining(db, worker)) ? [] : due());
      return { data: { files: await waitForClaims(deps, { wait, signal: disconnected() }, claim) } };
    },

    async startMedia({ id, body, base }) {
      const started = await writeWithEvents(deps, null, async (trx) => {
        const asked = { fileId: id, epoch: body.epoch ?? undefined, leaseUntil: clock(LEASE_SECONDS) };
        const held = await beginAttempt(trx, asked);
        const file = (await findStoredFiles(trx, [id])).get(id);
        if (held === undefined || file === undefined) return { answer: null, events: [] };
        if (held.attempts > MAX_ATTEMPTS) return { answer: null, events: [await end(trx, held, GAVE_UP)] };
        const stored = await listNames(trx, { fileId: id, build: held.build });
        return { answer: { held, file, stored }, events: [] };
      });
      if (started === null) throw new ProblemError('NOT_FOUND');
      const { held, file, stored } = started;
      const { name, mime_type: mimeType, size, storage_key: key } = file;
      if (mimeType === null || size === null || key === null) throw new ProblemError('NOT_FOUND');
      const url = await storage.downloadUrl(key, { name, mimeType }, URL_SECONDS);
      const content = { kind: held.kind, mimeType, size, url: rebaseUrl(deps, url, base) };
      const pages = parseJson(held.pages) ?? [];
      // What is made on request later is not part of the generation, whose trace may be gone by then.
      const isFirst = held.build === 1 && held.pages === null;
      const traceparent = (isFirst && held.traceparent) || undefined;
      const task: MediaTask = { ...content, stored, pages, traceparent };
      return { data: { epoch: held.epoch, task } };
    },

    renewMedia: ({ id, body: { epoch } }) => changeHeld(id, epoch, async () => NOTHING),

    async releaseMedia({ id, body: { epoch } }) {
      if (!(await releaseMedia(db, { fileId: id, epoch, now: clock() }, true))) throw new ProblemError('NOT_FOUND');
    },

    recordFacts: ({ id, body: { epoch, facts } }) =>
      changeHeld(id, epoch, async (trx) => {
        const { durationMs, width, height } = facts;
        const short_side = width === null || height === null ? null : Math.min(width, height);
        await setFacts(trx, { fileId: id, facts: JSON.stringify(facts), duration_ms: durationMs, short_side });
        await warnAboutDifferences(trx, id, facts);
        return NOTHING;
      }),

    async startRendition({ id, body: { epoch, size, mimeType, ...name }, base }) {
      const uploadId = uploadIdOf(id, name);
      const dropped = await changeHeld(id, epoch, async (trx) => {
        const file = (await findStoredFiles(trx, [id])).get(id);
        if (file === undefined) throw new ProblemError('NOT_FOUND');
        const answer = await dropUploads(trx, [uploadId], now());
        const asked = { name: uploadId, size, mimeType };
        const row = { id: uploadId, projectId: file.project_id, startedBy: file.created_by, asked };
        await insertUpload(trx, { ...newUploadRow(deps, row), storage_key: `${id}-${randomUUID()}` });
        return { answer, events: [] };
      });
      await abortDropped(deps, dropped);
      const parts = await signParts(deps, await ensureStorageUpload(deps, uploadId));
      return { data: { parts: parts.map((part) => ({ ...part, url: rebaseUrl(deps, part.url, base) })) } };
    },

    async completeRendition({ id, body: { epoch, parts, kind, variant, width, height, filmstrip } }) {
      const name = { kind, variant };
      const write: Write = (work) => changeHeld(id, epoch, work);
      // Read before the storage is called, because the open upload may belong to a later epoch.
      const { build, isStored } = await changeHeld(id, epoch, async (trx, held) => {
        const names = await listNames(trx, { fileId: id, build: held.build });
        const isStored = names.some((known) => known.kind === kind && known.variant === variant);
        return { answer: { build: held.build, isStored }, events: [] };
      });
      // The answer to an earlier call was lost.
      if (isStored) return;
      await completeUpload(deps, write, uploadIdOf(id, name), { parts }, async (trx, upload, mimeType) => {
        const { storage_key, size } = upload;
        const content = { storage_key, size, mime_type: mimeType, filmstrip: filmstrip && JSON.stringify(filmstrip) };
        await replaceRendition(trx, { file_id: id, ...name, build, width, height, ...content }, now());
        await deleteUploadWith(trx, { id: upload.id, key: storage_key });
        if (kind === 'THUMBNAIL') await setThumbnail(trx, { fileId: id, key: storage_key });
        return [];
      });
    },

    async finishMedia({ id, body: { epoch, error, status } }) {
      const dropped = await changeHeld(id, epoch, async (trx, held) => {
        const event = await end(trx, held, error, status);
        return { answer: await dropRenditionUploads(trx, id, now()), events: [event] };
      });
      await abortDropped(deps, dropped);
    },
  };
};

const GAVE_UP: MediaError = {
  code: 'INTERNAL',
  message: `Workers failed ${MAX_ATTEMPTS} times while they read this file. Their log tells why.`,
};

async function end(
  trx: Writer,
  { file_id: fileId, project_id: projectId, build }: StoredMedia,
  error: MediaError | null,
  statusWithError: 'READY' | 'FAILED' = 'FAILED',
): Promise<NewEvent<'file.media.ready' | 'file.media.failed'>> {
  const status = error === null ? 'READY' : statusWithError;
  await endMedia(trx, { fileId, status, error: error && JSON.stringify(error) });
  if (await dropOtherBuilds(trx, { fileId, build }, now())) {
    const names = await listNames(trx, { fileId, build });
    if (!names.some(({ kind }) => kind === 'THUMBNAIL')) await setThumbnail(trx, { fileId, key: null });
  }
  const about = { projectId, subjectId: fileId };
  return error === null || status === 'READY'
    ? { type: 'file.media.ready', ...about, data: {} }
    : { type: 'file.media.failed', ...about, data: { error: { code: error.code } } };
}
