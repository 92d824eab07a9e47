import type { Contract } from '@review/contract';
import { newId } from '../../db/ids.ts';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError, referenceNotFound } from '../../request/problem.ts';
import { givenFields } from '../events/given-fields.ts';
import type { Handlers } from '../handler.ts';
import { lockProject } from '../visibility.ts';
import { deleteFolder, insertFolder, isEmpty, isFolderOf, isInside, listFolders, updateFolder } from './queries.ts';

export const folders = ({ db }: Deps): Handlers<Contract['folders']> => ({
  create: ({ subject: project, body, write }) =>
    write(async (trx) => {
      const parentId = body.parent?.id ?? null;
      if (parentId !== null) {
        await lockProject(trx, project.id);
        if (!(await isFolderOf(trx, { projectId: project.id, id: parentId }))) throw referenceNotFound('/parent/id');
      }
      const id = newId('DX');
      await insertFolder(trx, { id, project_id: project.id, parent_id: parentId, name: body.name, created_at: now() });
      const parent = parentId === null ? null : { id: parentId };
      return {
        answer: { data: { id } },
        events: [{ type: 'folder.created', projectId: project.id, subjectId: id, data: { parent } }],
      };
    }),

  async list({ subject: project }) {
    const rows = await listFolders(db, project);
    return {
      data: rows.map((folder) => ({
        id: folder.id,
        name: folder.name,
        parent: folder.parent_id === null ? null : { id: folder.parent_id },
        createdAt: folder.created_at,
      })),
    };
  },

  update: ({ subject: folder, body, write }) =>
    write(async (trx) => {
      if (body.parent) {
        await lockProject(trx, folder.project_id);
        if (!(await isFolderOf(trx, { projectId: folder.project_id, id: body.parent.id })))
          throw referenceNotFound('/parent/id');
        if (await isInside(trx, { id: body.parent.id, ancestorId: folder.id })) throw new ProblemError('FOLDER_CYCLE');
      }
      const parentId = body.parent === null ? null : body.parent?.id;
      await updateFolder(trx, folder.id, { name: body.name, parent_id: parentId });
      const changed = givenFields(body, 'name', 'parent');
      if (changed.length === 0) return { answer: undefined, events: [] };
      return {
        answer: undefined,
        events: [{ type: 'folder.updated', projectId: folder.project_id, subjectId: folder.id, data: { changed } }],
      };
    }),

  delete: ({ subject: folder, write }) =>
    write(async (trx) => {
      await lockProject(trx, folder.project_id);
      if (!(await isEmpty(trx, folder.id))) throw new ProblemError('FOLDER_NOT_EMPTY');
      await deleteFolder(trx, folder.id);
      return {
        answer: undefined,
        events: [{ type: 'folder.deleted', projectId: folder.project_id, subjectId: folder.id, data: {} }],
      };
    }),
});

/** Requires a folder of the project. Locks the project, so that the folder cannot be deleted concurrently. */
export async function requireFolder(trx: Writer, projectId: string, folderId: string): Promise<void> {
  await lockProject(trx, projectId);
  if (!(await isFolderOf(trx, { projectId, id: folderId }))) throw referenceNotFound('/folder/id');
}
