import type { Contract } from '@review/contract';
import { newUuid } from '../../db/ids.ts';
import { now, secondsFromNow } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { cursors } from '../../request/cursors.ts';
import type { Handlers } from '../handler.ts';
import { addMembers } from '../members/handlers.ts';
import { insertMembers } from '../members/queries.ts';
import { insertProject, listProjects, setDeletion, updateProject, type VisibleProject } from './queries.ts';

const DELETION_DELAY_SECONDS = 7 * 24 * 60 * 60;

export const projects = ({ db, secrets }: Deps): Handlers<Contract['projects']> => ({
  async list({ caller, body: { keyword, sort, next, prev } }) {
    const pages = cursors(secrets.cursor, 'projects', { keyword, sort });
    const page = { direction: sort.direction, from: pages.position({ next, prev }) };
    return pages.answer(await listProjects(db, caller, sort.type, keyword, page), toResponse);
  },

  create: ({ caller, body, write }) =>
    write(async (trx) => {
      const { name, description = null, deadline = null, members = [] } = body;
      const project = { id: newUuid(), workspaceId: caller.workspaceId, name, description, deadline, createdAt: now() };
      await insertProject(trx, project);
      await insertMembers(trx, project.id, [
        { id: newUuid(), userId: caller.userId, role: 'PROJECT_OWNER', createdAt: now() },
      ]);
      await addMembers(trx, caller.workspaceId, project.id, members);
      return { data: { id: project.id } };
    }),

  get: async ({ subject: project }) => ({ data: toResponse(project) }),

  update: ({ subject: project, body, write }) => write((trx) => updateProject(trx, project.id, body, now())),

  delete: ({ subject: project, write }) =>
    write((trx) => setDeletion(trx, project.id, secondsFromNow(DELETION_DELAY_SECONDS))),

  cancelDelete: ({ subject: project, write }) => write((trx) => setDeletion(trx, project.id, null)),
});

const toResponse = ({ projectId: _, deletes_at: deletesAt, ...project }: VisibleProject) => ({
  ...project,
  deletesAt,
  thumbnailUrl: null,
});
