import { type Contract, LEADS, type ProjectRole, workflowIdOf } from '@review/contract';
import { daysAfter, now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { cursors } from '../../request/cursors.ts';
import { ProblemError, referenceNotFound } from '../../request/problem.ts';
import { givenFields } from '../events/given-fields.ts';
import { requireFolder } from '../folders/handlers.ts';
import { isVisibleFolder } from '../folders/queries.ts';
import { findGeneration, listSteps } from '../generation/queries.ts';
import { generationRecords, toStepRecord } from '../generation/response.ts';
import type { Handlers } from '../handler.ts';
import { renditionRecords } from '../media/response.ts';
import { addMediaTask, addPagesTask, findCompleteFile } from '../media/tasks.ts';
import { thumbnailUrls } from '../media/urls.ts';
import { createDownload } from '../uploads/download.ts';
import { abortDropped } from '../uploads/drop.ts';
import type { PendingBlobDeletion } from '../uploads/queries.ts';
import { completeUpload, startUpload } from '../uploads/upload.ts';
import { isRestricted, lockProject } from '../visibility.ts';
import { cancelFile } from './cancel.ts';
import { fileDeleted, fileTrashed } from './events.ts';
import { hashUploadedFile } from './hash.ts';
import {
  findVisibleFile,
  insertFile,
  listFiles,
  lockFile,
  type ShownFile,
  type StoredFile,
  setFinalStatus,
  updateFile,
  updateTag,
} from './queries.ts';
import { toFileRecord } from './response.ts';
import { deleteTrashedFile, listTrash, restoreFile, trashFile } from './trash.ts';

const FINAL_STATUSES: readonly string[] = ['UPLOADED', 'FAILED', 'CANCELED'];

const NOT_FINAL = 'Only an Owner or a Manager deletes a file in the trash.';
const isLead = (role: ProjectRole) => LEADS.some((lead) => lead === role);

export const files = (deps: Deps): Handlers<Contract['files']> => {
  const { db, config, secrets, watch, storage, queueNotifier } = deps;
  const toResponses = async (stored: ShownFile[], role: ProjectRole) => {
    const generated = stored.flatMap(({ id, mode }) => (mode === 'GENERATED' ? [id] : []));
    const generations = await generationRecords(deps, generated, role);
    const urls = await thumbnailUrls(storage, stored);
    return stored.map((file, index) => toFileRecord(file, generations.get(file.id) ?? null, urls[index] ?? null));
  };
  /** Stops what still runs for a canceled file, after the commit. */
  const afterCancel = async (file: StoredFile, dropped: PendingBlobDeletion[]) => {
    await abortDropped(deps, dropped);
    watch.changed(file.id);
    queueNotifier.notify();
    if (file.status === 'GENERATING') void deps.dispatcher?.cancel(file.id);
  };
  return {
    async get({ caller, subject, query, disconnected }) {
      const isFinal = (seen?: StoredFile) => seen === undefined || FINAL_STATUSES.includes(seen.status);
      const look = () => findVisibleFile(db, { ...caller, id: subject.id });
      const file =
        query.wait === 0 || isFinal(subject)
          ? subject
          : await watch.until(subject.id, look, isFinal, query.wait * 1000, disconnected());
      if (file === undefined) throw new ProblemError('NOT_FOUND');
      const [record] = await toResponses([file], file.role);
      if (record === undefined) throw new ProblemError('NOT_FOUND');
      const renditions = record.media === null ? [] : await renditionRecords(deps, file.id);
      return { data: { ...record, renditions } };
    },

    async getGeneration({ subject: file }) {
      const generation = await findGeneration(db, file.id);
      const response = (await generationRecords(deps, [file.id], file.role)).get(file.id);
      if (generation === undefined || response === undefined) throw new ProblemError('NOT_FOUND');
      const { engine, prompt, provider_job_id: providerJobId } = generation;
      const workflowUrl =
        engine === 'temporal' && config.generation.temporalUiUrl !== null
          ? `${config.generation.temporalUiUrl}/workflows/${encodeURIComponent(workflowIdOf(file.id))}`
          : null;
      const steps = (await listSteps(db, file.id)).map(toStepRecord);
      return { data: { ...response, prompt, steps, providerJobId, engine, workflowUrl } };
    },

    async list({ subject: project, body: { next, prev, folder, duration, resolution, sort, ...plain } }) {
      if (folder && !(await isVisibleFolder(db, project, folder.id))) throw referenceNotFound('/folder/id');
      const folderId = folder === null ? null : folder?.id;
      const filters = {
        ...plain,
        minDuration: duration?.min,
        maxDuration: duration?.max,
        minResolution: resolution?.min,
        maxResolution: resolution?.max,
      };
      const pages = cursors(secrets.cursor, `files of ${project.id}`, { ...filters, folderId, sort });
      const page = { direction: sort.direction, from: pages.position({ next, prev }) };
      const found = await listFiles(
        db,
        page,
        { ...filters, projectId: project.id, folderId: folder?.id },
        { restricted: isRestricted(project.role), atRoot: folder === null, sort: sort.type },
      );
      return pages.answer({ ...found, items: await toResponses(found.items, project.role) }, (file) => file);
    },

    async download({ subject: file }) {
      if (file.status !== 'UPLOADED' || file.storage_key === null) throw new ProblemError('FILE_NOT_READY');
      return { data: await createDownload(storage, file.storage_key, file) };
    },

    update: ({ subject, body, write }) =>
      write(async (trx) => {
        if (body.folder) await requireFolder(trx, subject.project_id, body.folder.id);
        const file = await lockFile(trx, subject.id);
        if (file === undefined) throw new ProblemError('NOT_FOUND');
        const { name = file.name, description = file.description, allowRestricted } = body;
        const fields = {
          name,
          description,
          folder_id: body.folder === undefined ? file.folder_id : (body.folder?.id ?? null),
          allow_restricted: allowRestricted === undefined ? file.allow_restricted : Number(allowRestricted),
        };
        await updateFile(trx, file.id, fields, now());
        const changed = givenFields(body, 'name', 'description', 'folder', 'allowRestricted');
        return {
          answer: undefined,
          events: [{ type: 'file.updated', projectId: file.project_id, subjectId: file.id, data: { changed } }],
        };
      }),

    setTag: ({ subject: file, body: { tag }, write }) =>
      write(async (trx) => {
        if (!(await updateTag(trx, { id: file.id, tag, updatedAt: now() }))) throw new ProblemError('NOT_FOUND');
        return {
          answer: undefined,
          events: [{ type: 'file.tagged', projectId: file.project_id, subjectId: file.id, data: { tag } }],
        };
      }),

    async delete({ subject: file, query, write }) {
      if (query.trashed !== undefined && (query.trashed === 'true') !== (file.trashed_at !== null))
        throw new ProblemError('NOT_FOUND');
      const dropped = await write(async (trx) => {
        // As the caller saw it: the second of two concurrent requests does not delete for good.
        if (file.trashed_at === null) {
          const canceled = await cancelFile(trx, file);
          const trashed = await trashFile(trx, { id: file.id, at: now() });
          return { answer: canceled.dropped, events: [...canceled.events, ...trashed.map(fileTrashed)] };
        }
        if (!isLead(file.role)) throw new ProblemError('INSUFFICIENT_ROLE', { detail: NOT_FINAL });
        const { dropped: answer, deleted } = await deleteTrashedFile(trx, file.id, now());
        return { answer, events: deleted.map(fileDeleted) };
      });
      await afterCancel(file, dropped);
    },

    restore: ({ subject: file, write }) =>
      write(async (trx) => {
        // The folder cannot be deleted concurrently.
        await lockProject(trx, file.project_id);
        const restored = await restoreFile(trx, file.id);
        if (restored === undefined) return { answer: undefined, events: [] };
        const folder = restored.folder_id === null ? null : { id: restored.folder_id };
        return {
          answer: undefined,
          events: [{ type: 'file.restored', projectId: file.project_id, subjectId: file.id, data: { folder } }],
        };
      }),

    async trash({ subject: project, body: { next, prev } }) {
      const pages = cursors(secrets.cursor, `trash of ${project.id}`, {});
      const page = { direction: 'desc', from: pages.position({ next, prev }) } as const;
      const found = await listTrash(db, page, { projectId: project.id }, {});
      const records = await toResponses(found.items, project.role);
      const items = found.items.flatMap(({ trashed_at: trashedAt }, index) => {
        const record = records[index];
        return record ? [{ ...record, trashedAt, deletesAt: daysAfter(trashedAt, config.trashDays) }] : [];
      });
      return pages.answer({ ...found, items }, (file) => file);
    },

    rebuildMedia: ({ subject: file, body, write }) =>
      write(async (trx) => {
        const complete = await findCompleteFile(trx, file.id);
        if (complete === undefined) throw new ProblemError('FILE_NOT_READY');
        if (body?.pages === undefined) await addMediaTask(trx, complete);
        else await addPagesTask(trx, file.id, body.pages);
        return { answer: undefined, events: [] };
      }),

    async startUpload({ caller, subject: project, body, write }) {
      const asked = { prefix: 'FX', projectId: project.id, startedBy: caller.userId, asked: body } as const;
      const folderId = body.folder?.id ?? null;
      const started = await startUpload(deps, write, asked, async (trx, id) => {
        if (folderId !== null) await requireFolder(trx, project.id, folderId);
        await insertFile(trx, {
          id,
          project_id: project.id,
          folder_id: folderId,
          name: body.name,
          mode: 'UPLOADED',
          status: 'UPLOADING',
          created_by: caller.userId,
          created_at: now(),
        });
        const folder = folderId === null ? null : { id: folderId };
        return [{ type: 'file.created', projectId: project.id, subjectId: id, data: { mode: 'UPLOADED', folder } }];
      });
      return { data: started };
    },

    async completeUpload({ subject: file, body, write }) {
      const completed = await completeUpload(deps, write, file.id, body, async (trx, upload, mimeType) => {
        const content = { storage_key: upload.storage_key, size: upload.size, mime_type: mimeType };
        const isOpen = await setFinalStatus(trx, file.id, 'UPLOADING', { status: 'UPLOADED', ...content }, now());
        if (!isOpen) throw new ProblemError('UPLOAD_COMPLETED');
        await addMediaTask(trx, { ...file, mime_type: mimeType });
        const data = { mimeType, size: upload.size };
        return [{ type: 'file.upload.completed', projectId: file.project_id, subjectId: file.id, data }];
      });
      if (completed === null) return;
      watch.changed(file.id);
      void hashUploadedFile(deps, completed);
    },

    async cancel({ subject: file, write }) {
      const dropped = await write(async (trx) => {
        const { dropped: answer, events } = await cancelFile(trx, file);
        if (events.length === 0) throw new ProblemError('FILE_NOT_CANCELABLE');
        return { answer, events };
      });
      await afterCancel(file, dropped);
    },
  };
};
