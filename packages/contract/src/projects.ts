import { z } from 'zod';
import { ANY_MEMBER, LEADS, OWNERS, ProjectRole } from './access.ts';
import { created, data, NO_BODY, QUERY, room } from './endpoint.ts';
import { Uuid } from './ids.ts';
import { newMembers } from './members.ts';
import { cursorPage, cursorQuery, sortedBy } from './paging.ts';
import { text } from './text.ts';
import { Day, Timestamp } from './time.ts';

const ProjectName = text({ min: 1, max: 100 });
const ProjectDescription = text({ max: 5000 }).nullable();
/** The only range. Compatible clients send it; it has no effect. */
const AccessRange = z.enum(['ONLY_PROJECT_MEMBER']);

export const Project = z
  .object({
    id: Uuid,
    name: z.string(),
    description: z.string().nullable(),
    deadline: Day.nullable(),
    /** The thumbnail of its newest file that has one and that the caller may see. */
    thumbnailUrl: z.string().nullable(),
    /** The role of the caller. */
    role: ProjectRole,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    /** When the project is deleted permanently; null unless its deletion is scheduled. */
    deletesAt: Timestamp.nullable(),
  })
  .meta({ id: 'Project' });
export type Project = z.infer<typeof Project>;

export const projects = room({
  list: {
    method: QUERY,
    path: '/api/projects',
    summary: "List the caller's projects, page by page",
    body: cursorQuery({
      keyword: text({ min: 1, max: 100 })
        .optional()
        .describe('Only projects whose name or description contains this text, ignoring case.'),
      sort: sortedBy('updatedAt', 'createdAt', 'name'),
    }),
    responses: { 200: cursorPage(Project) },
    metadata: { tool: 'list_projects', tier: 'tier-4', scopes: ['projects:read'], subject: null, roles: [] },
  },
  create: {
    method: 'POST',
    path: '/api/projects',
    summary: 'Create a project; the caller becomes its owner',
    body: z.strictObject({
      name: ProjectName,
      description: ProjectDescription.optional(),
      deadline: Day.nullable().optional(),
      members: newMembers({ min: 0 }).optional(),
      accessRange: AccessRange.optional(),
    }),
    responses: { 201: created(Uuid) },
    metadata: {
      events: ['project.created', 'member.added'],
      tier: 'tier-3',
      scopes: ['projects:write'],
      subject: null,
      roles: [],
      location: '/api/projects/:id',
      problems: ['MEMBER_EXISTS', 'REFERENCE_NOT_FOUND'],
    },
  },
  get: {
    method: 'GET',
    path: '/api/projects/:id',
    summary: 'Read a project',
    responses: { 200: data(Project) },
    metadata: {
      tool: 'get_project',
      tier: 'tier-4',
      scopes: ['projects:read'],
      subject: 'project',
      roles: ANY_MEMBER,
      conditional: true,
    },
  },
  update: {
    method: 'PATCH',
    path: '/api/projects/:id',
    summary: 'Change the name, description or deadline of a project',
    body: z.strictObject({
      name: ProjectName.optional(),
      description: ProjectDescription.optional(),
      deadline: Day.nullable().optional(),
      accessRange: AccessRange.optional(),
    }),
    responses: { 204: NO_BODY },
    metadata: {
      events: ['project.updated'],
      ifMatch: true,
      tier: 'tier-3',
      scopes: ['projects:write'],
      subject: 'project',
      roles: LEADS,
    },
  },
  delete: {
    method: 'POST',
    path: '/api/projects/:id/delete',
    summary: 'Schedule the deletion of a project, seven days ahead',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: {
      events: ['project.deleting'],
      tier: 'tier-3',
      scopes: ['projects:write'],
      subject: 'project',
      roles: OWNERS,
    },
  },
  cancelDelete: {
    method: 'POST',
    path: '/api/projects/:id/delete.cancel',
    summary: 'Undo a scheduled deletion',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: {
      events: ['project.restored'],
      tier: 'tier-3',
      scopes: ['projects:write'],
      subject: 'project',
      roles: OWNERS,
      whileDeleting: true,
    },
  },
});
