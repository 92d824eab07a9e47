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
    return pages.answer(await listProjects(db, page, { ...caller, keyword }, { sort: sort.type }), toResponse);
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
      await addMembers(trx, caller.workspaceId, id, members);
      return { data: { id } };
    }),

  get: async ({ subject: project }) => ({ data: toResponse(project) }),

  update: ({ subject: project, body, write }) => write((trx) => updateProject(trx, project.id, body, now())),

  delete: ({ subject: project, write }) =>
    write((trx) => setDeletion(trx, project.id, secondsFromNow(DELETION_DELAY_SECONDS))),

  cancelDelete: ({ subject: project, write }) => write((trx) => setDeletion(trx, project.id, null)),
});

const toResponse = (project: VisibleProject) => ({
  id: project.id,
  role: project.role,
  name: project.name,
  description: project.description,
  deadline: project.deadline,
  createdAt: project.created_at,
  updatedAt: project.updated_at,
  deletesAt: project.deletes_at,
  thumbnailUrl: null,
});
