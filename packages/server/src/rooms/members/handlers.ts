import type { Contract, ProjectRole } from '@review/contract';
import { newUuid } from '../../db/ids.ts';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError, referenceNotFound } from '../../request/problem.ts';
import type { NewEvent } from '../events/outbox.ts';
import type { Handlers } from '../handler.ts';
import { abortDropped, dropUnfinishedUploads } from '../uploads/drop.ts';
import { lockProject } from '../visibility.ts';
import {
  deleteMember,
  findMember,
  findWorkspaceUsers,
  insertMembers,
  isLastOwner,
  listProjectMembers,
  listWorkspaceMembers,
  type NewMember,
  recordDecisions,
  updateRole,
  type VisibleMember,
} from './queries.ts';

export const members = (deps: Deps): Handlers<Contract['members']> => ({
  async list({ caller, subject: project }) {
    const listed = await listProjectMembers(deps.db, { workspaceId: caller.workspaceId, projectId: project.id });
    return { data: listed.map((member) => ({ id: member.id, role: member.role, user: userOf(member) })) };
  },

  add: ({ caller, subject: project, body, write }) =>
    write(async (trx) => {
      // Prevents a deadlock of two calls that add the same people in another order.
      await lockProject(trx, project.id);
      const added = await addMembers(trx, caller.workspaceId, project.id, body.members);
      const userIds = added.map((member) => member.user_id);
      await recordDecisions(trx, project.id, userIds, now());
      return { answer: { data: added.map(({ id }) => ({ id })) }, events: added.map(memberAdded) };
    }),

  update: ({ subject: member, body, write }) =>
    write(async (trx) => {
      const userId = await lockMember(trx, member);
      if (body.role === 'PROJECT_OWNER') requireOwner(member.role);
      else await requireAnotherOwner(trx, member);
      await updateRole(trx, { id: member.id, role: body.role });
      await recordDecisions(trx, member.project_id, [userId], now());
      const data = { user: { id: userId }, role: body.role };
      return {
        answer: undefined,
        events: [{ type: 'member.changed', projectId: member.project_id, subjectId: member.id, data }],
      };
    }),

  async remove({ subject: member, write }) {
    const dropped = await write(async (trx) => {
      const userId = await lockMember(trx, member);
      await requireAnotherOwner(trx, member);
      await deleteMember(trx, member.id);
      await recordDecisions(trx, member.project_id, [userId], now());
      const { blobs, deleted } = await dropUnfinishedUploads(trx, { userId, projectId: member.project_id });
      const data = { user: { id: userId } };
      return {
        answer: blobs,
        events: [{ type: 'member.removed', projectId: member.project_id, subjectId: member.id, data }, ...deleted],
      };
    });
    await abortDropped(deps, dropped);
  },

  async listWorkspace({ caller }) {
    const listed = await listWorkspaceMembers(deps.db, caller.workspaceId);
    return { data: listed.map((member) => ({ id: member.id, user: userOf(member) })) };
  },
});

const userOf = (member: Awaited<ReturnType<typeof listWorkspaceMembers>>[number]) => ({
  id: member.user_id,
  email: member.email,
  name: member.name,
  avatarUrl: member.avatar_url,
});

/** Adds all members or none. Each must belong to the workspace and must not be a member of the project. */
export async function addMembers(
  trx: Writer,
  workspaceId: string,
  projectId: string,
  asked: { user: { id: string }; role: ProjectRole }[],
): Promise<NewMember[]> {
  const known = await findWorkspaceUsers(trx, { workspaceId, userIds: asked.map(({ user }) => user.id) });
  const unknown = asked.flatMap(({ user }, index) => (known.has(user.id) ? [] : [`/members/${index}/user/id`]));
  if (unknown.length > 0) throw referenceNotFound(...unknown);
  const added = asked.map(({ user, role }) => ({
    id: newUuid(),
    project_id: projectId,
    user_id: user.id,
    role,
    created_at: now(),
  }));
  if (!(await insertMembers(trx, added))) throw new ProblemError('MEMBER_EXISTS');
  return added;
}

export const memberAdded = (member: NewMember): NewEvent<'member.added'> => ({
  type: 'member.added',
  projectId: member.project_id,
  subjectId: member.id,
  data: { user: { id: member.user_id }, role: member.role },
});

/** Locks the project and returns the user of the member. The lock prevents that two owners demote each other and none is left. */
async function lockMember(trx: Writer, member: VisibleMember): Promise<string> {
  await lockProject(trx, member.project_id);
  const found = await findMember(trx, member.id);
  if (found === undefined) throw new ProblemError('NOT_FOUND');
  if (found.role === 'PROJECT_OWNER') requireOwner(member.role);
  return found.user_id;
}

function requireOwner(role: ProjectRole): void {
  if (role !== 'PROJECT_OWNER') {
    throw new ProblemError('INSUFFICIENT_ROLE', { detail: 'Only an owner can add, change or remove an owner.' });
  }
}

async function requireAnotherOwner(trx: Writer, member: VisibleMember): Promise<void> {
  if (await isLastOwner(trx, member.project_id, member.id)) throw new ProblemError('LAST_OWNER');
}
