import { z } from 'zod';
import { ANY_MEMBER, LEADS, PROJECT_ROLES, ProjectRole } from './access.ts';
import { list } from './collections.ts';
import { data, NO_BODY, room } from './endpoint.ts';
import { reference, Uuid } from './ids.ts';

export const User = z
  .object({
    id: Uuid,
    email: z.string(),
    /** The display name in the workspace; the account name if none is set. */
    name: z.string(),
    avatarUrl: z.string().nullable(),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;

/** A user without the email address, for other members. */
export const Person = User.omit({ email: true }).meta({ id: 'Person' });
export type Person = z.infer<typeof Person>;

export const ProjectMember = z.object({ id: Uuid, role: ProjectRole, user: User }).meta({ id: 'ProjectMember' });
export type ProjectMember = z.infer<typeof ProjectMember>;
export const WorkspaceMember = z.object({ id: Uuid, user: User });
export type WorkspaceMember = z.infer<typeof WorkspaceMember>;

const AssignableRole = z.enum(PROJECT_ROLES).exclude(['PROJECT_OWNER']);

export const newMembers = ({ min }: { min: number }) => {
  const NewMember = z.strictObject({
    user: reference(Uuid).describe('A person of the workspace.'),
    role: AssignableRole.describe('The role of the person in the project.'),
  });
  return list(
    NewMember,
    { min, max: 100 },
    {
      of: ({ user }) => user.id,
      path: ['user', 'id'],
      message: 'The user is a duplicate of an earlier one in the list.',
    },
  );
};
export type NewMembers = z.infer<ReturnType<typeof newMembers>>;

export const members = room({
  list: {
    method: 'GET',
    path: '/api/projects/:id/members',
    summary: 'List the members of a project',
    responses: { 200: data(z.array(ProjectMember)) },
    metadata: {
      tool: 'list_project_members',
      tier: 'default',
      scopes: ['project-members:read'],
      subject: 'project',
      roles: ANY_MEMBER,
    },
  },
  add: {
    method: 'POST',
    path: '/api/projects/:id/members',
    summary: 'Add members to a project: all of them or none',
    body: z.strictObject({ members: newMembers({ min: 1 }).describe('The new members, without duplicates.') }),
    responses: { 201: data(z.array(z.object({ id: Uuid }))) },
    metadata: {
      events: ['member.added'],
      tool: 'add_project_members',
      tier: 'tier-3',
      scopes: ['project-members:write'],
      subject: 'project',
      // No location: one request can add several members.
      location: null,
      roles: LEADS,
      problems: ['MEMBER_EXISTS', 'REFERENCE_NOT_FOUND'],
    },
  },
  update: {
    method: 'PATCH',
    path: '/api/project-members/:id',
    summary: 'Change the role of a member; only an owner makes or changes an owner',
    body: z.strictObject({ role: ProjectRole }),
    responses: { 204: NO_BODY },
    metadata: {
      events: ['member.changed'],
      tier: 'tier-3',
      scopes: ['project-members:write'],
      subject: 'project-member',
      roles: LEADS,
      problems: ['LAST_OWNER'],
    },
  },
  remove: {
    method: 'DELETE',
    path: '/api/project-members/:id',
    summary: 'Remove a member from the project; only an owner removes an owner',
    responses: { 204: NO_BODY },
    metadata: {
      events: ['member.removed', 'file.deleted'],
      tier: 'tier-3',
      scopes: ['project-members:write'],
      subject: 'project-member',
      roles: LEADS,
      problems: ['LAST_OWNER'],
    },
  },
  listWorkspace: {
    method: 'GET',
    path: '/api/workspace/members',
    summary: 'List the people of the workspace',
    responses: { 200: data(z.array(WorkspaceMember)) },
    metadata: {
      tool: 'list_workspace_members',
      tier: 'default',
      scopes: ['workspace-members:read'],
      subject: null,
      roles: [],
    },
  },
});
