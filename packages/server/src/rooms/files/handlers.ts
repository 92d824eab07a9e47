import { type Contract, type ProjectRole, workflowIdOf } from '@review/contract';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { cursors } from '../../request/cursors.ts';
import { ProblemError, referenceNotFound } from '../../request/problem.ts';
import { requireFolder } from '../folders/handlers.ts';
import { isVisibleFolder } from '../folders/queries.ts';
import { endFile } from '../generation/end.ts';
import { findGeneration, listSteps } from '../generation/queries.ts';
import { generationRecords, toStepRecord } from '../generation/response.ts';
import type { Handlers } from '../handler.ts';
import { createDownload } from '../uploads/download.ts';
import { abortDropped } from '../uploads/drop.ts';
import { dropUploads } from '../uploads/queries.ts';
import { completeUpload, startUpload } from '../uploads/upload.ts';
import { isRestricted } from '../visibility.ts';
import { hashUploadedFile } from './hash.ts';
import {
  deleteFile,
  findVisibleFile,
  insertFile,
  listFiles,
  lockFile,
  type StoredFile,
  setFinalStatus,
  updateFile,
  updateTag,
} from './queries.ts';
import { toFileRecord } from './response.ts';

const FINAL_STATUSES: readonly string[] = ['UPLOADED', 'FAILED', 'CANCELED'];

export const files = (deps: Deps): Handlers<Contract['files']> => {
  const { db, config, secrets, watch, storage, queueNotifier } = deps;
  const toResponses = async (stored: StoredFile[], role: ProjectRole) => {
    const generated = stored.flatMap(({ id, mode }) => (mode === 'GENERATED' ? [id] : []));
    const generations = await generationRecords(deps, generated, role);
    return stored.map((file) => toFileRecord(file, generations.get(file.id) ?? null));
  };
  return {
    async get({ caller, subject, query, signal }) {
      const isFinal = (seen?: StoredFile) => seen === undefined || FINAL_STATUSES.includes(seen.status);
      const look = () => findVisibleFile(db, { ...caller, id: subject.id });
      const file =
        query.wait === 0 || isFinal(subject)
          ? subject
          : await watch.until(subject.id, look, isFinal, query.wait * 1000, signal);
      if (file === undefined) throw new ProblemError('NOT_FOUND');
      const generations = await generationRecords(deps, file.mode === 'GENERATED' ? [file.id] : [], file.role);
      return { data: toFileRecord(file, generations.get(file.id) ?? null) };
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

    async list({ subject: project, body: { next, prev, folder, ...filters } }) {
      if (folder && !(await isVisibleFolder(db, project, folder.id))) throw referenceNotFound('/folder/id');
      const folderId = folder === null ? null : folder?.id;
      const pages = cursors(secrets.cursor, `files of ${project.id}`, { ...filters, folderId });
      const page = { direction: 'desc', from: pages.position({ next, prev }) } as const;
      const found = await listFiles(
        db,
        page,
        { ...filters, projectId: project.id, folderId: folder?.id },
        { restricted: isRestricted(project.role), atRoot: folder === null },
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
      }),

    setTag: ({ subject: file, body, write }) => write((trx) => updateTag(trx, file.id, body.tag, now())),

    async delete({ subject: file, write }) {
      await abortDropped(deps, await write((trx) => deleteFile(trx, file.id, now())));
      watch.changed(file.id);
      queueNotifier.notify();
    },

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
      });
      return { data: started };
    },

    async completeUpload({ subject: file, body, write }) {
      const completed = await completeUpload(deps, write, file.id, body, async (trx, upload, mimeType) => {
        const content = { storage_key: upload.storage_key, size: upload.size, mime_type: mimeType };
        const isOpen = await setFinalStatus(trx, file.id, 'UPLOADING', { status: 'UPLOADED', ...content }, now());
        if (!isOpen) throw new ProblemError('UPLOAD_COMPLETED');
      });
      if (completed === null) return;
      watch.changed(file.id);
      void hashUploadedFile(deps, completed);
    },

    async cancel({ subject: file, write }) {
      const dropped = await write(async (trx) => {
        const generation = await findGeneration(trx, file.id);
        // Locks the upload before the file, as completing an upload does, to prevent deadlocks.
        const uploads = generation === undefined ? await dropUploads(trx, [file.id], now()) : [];
        const canceled = generation
          ? await endFile(trx, generation, { status: 'CANCELED' }, now())
          : await setFinalStatus(trx, file.id, 'UPLOADING', { status: 'CANCELED' }, now());
        if (!canceled) throw new ProblemError('FILE_NOT_CANCELABLE');
        return uploads;
      });
      await abortDropped(deps, dropped);
      watch.changed(file.id);
      queueNotifier.notify();
      if (file.mode === 'GENERATED') void deps.dispatcher?.cancel(file.id);
    },
  };
};
