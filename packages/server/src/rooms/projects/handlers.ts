import type { Contract } from '@review/contract';
import { newUuid } from '../../db/ids.ts';
import { now, secondsFromNow } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import type { Caller } from '../../request/caller.ts';
import { cursors } from '../../request/cursors.ts';
import { givenFields } from '../events/given-fields.ts';
import type { Handlers } from '../handler.ts';
import { findProjectThumbnails } from '../media/queries.ts';
import { thumbnailUrl } from '../media/urls.ts';
import { addMembers, memberAdded } from '../members/handlers.ts';
import { insertMembers } from '../members/queries.ts';
import { isRestricted } from '../visibility.ts';
import { insertProject, listProjects, setDeletion, updateProject, type VisibleProject } from './queries.ts';

const DELETION_DELAY_SECONDS = 7 * 24 * 60 * 60;

export const projects = (deps: Deps): Handlers<Contract['projects']> => {
  const { db, secrets } = deps;
  return {
    async list({ caller, body: { keyword, sort, next, prev } }) {
      const pages = cursors(secrets.cursor, 'projects', { keyword, sort });
      const page = { direction: sort.direction, from: pages.position({ next, prev }) };
      const found = await listProjects(db, page, { ...caller, keyword }, { sort: sort.type });
      const thumbnails = await thumbnailsOf(deps, caller, found.items);
      return pages.answer(found, (project) => toResponse(project, thumbnails));
    },

    create: ({ caller, body, write }) =>
      write(async (trx) => {
        const { name, description = null, deadline = null, members = [] } = body;
        const [id, at] = [newUuid(), now()];
        const fields = { name, description, deadline, created_at: at };
        await insertProject(trx, { id, workspace_id: caller.workspaceId, ...fields });
        await insertMembers(trx, [
          { id: newUuid(), project_id: id, user_id: caller.userId, role: 'PROJECT_OWNER', created_at: at },
        ]);
        const added = await addMembers(trx, caller.workspaceId, id, members);
        return {
          answer: { data: { id } },
          events: [{ type: 'project.created', projectId: id, subjectId: id, data: {} }, ...added.map(memberAdded)],
        };
      }),

    get: async ({ caller, subject: project }) => ({
      data: toResponse(project, await thumbnailsOf(deps, caller, [project])),
    }),

    update: ({ subject: { id }, body, write }) =>
      write(async (trx) => {
        await updateProject(trx, id, body, now());
        const changed = givenFields(body, 'name', 'description', 'deadline');
        return {
          answer: undefined,
          events: [{ type: 'project.updated', projectId: id, subjectId: id, data: { changed } }],
        };
      }),

    delete: ({ subject: { id }, write }) =>
      write(async (trx) => {
        const deletesAt = secondsFromNow(DELETION_DELAY_SECONDS);
        await setDeletion(trx, id, deletesAt);
        const data = { deletesAt };
        return { answer: undefined, events: [{ type: 'project.deleting', projectId: id, subjectId: id, data }] };
      }),

    cancelDelete: ({ subject: { id }, write }) =>
      write(async (trx) => {
        await setDeletion(trx, id, null);
        return { answer: undefined, events: [{ type: 'project.restored', projectId: id, subjectId: id, data: {} }] };
      }),
  };
};

/** Returns the URLs of the newest thumbnails that the caller may see, by the id of the project. */
async function thumbnailsOf({ db, storage }: Deps, { scopes }: Caller, shown: VisibleProject[]) {
  const urls = new Map<string, string | null>();
  if (!scopes.has('files:read')) return urls;
  for (const restricted of [true, false]) {
    const ids = shown.filter(({ role }) => isRestricted(role) === restricted).map(({ id }) => id);
    for (const [id, key] of await findProjectThumbnails(db, ids, restricted)) {
      urls.set(id, await thumbnailUrl(storage, key));
    }
  }
  return urls;
}

const toResponse = (project: VisibleProject, thumbnails: ReadonlyMap<string, string | null>) => ({
  id: project.id,
  role: project.role,
  name: project.name,
  description: project.description,
  deadline: project.deadline,
  createdAt: project.created_at,
  updatedAt: project.updated_at,
  deletesAt: project.deletes_at,
  thumbnailUrl: thumbnails.get(project.id) ?? null,
});
