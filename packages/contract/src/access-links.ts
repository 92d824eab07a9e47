import { z } from 'zod';
import { LEADS, ProjectRole } from './access.ts';
import { created, data, NO_BODY, QUERY, room } from './endpoint.ts';
import { Uuid } from './ids.ts';
import { cursorPage, cursorQuery } from './paging.ts';
import { text } from './text.ts';
import { ChosenTime, Timestamp } from './time.ts';

/** A link can make nobody an owner or a manager. */
export const LinkRole = ProjectRole.exclude(['PROJECT_OWNER', 'PROJECT_MANAGER']);
export type LinkRole = z.infer<typeof LinkRole>;

export const AccessLink = z.object({
  id: Uuid,
  /** Null unless the credential also holds `access-links:read.key`, and where the server's SECRET_KEY has changed since. */
  accessKey: z.string().nullable(),
  description: z.string().nullable(),
  role: LinkRole,
  createdAt: Timestamp,
});
export type AccessLink = z.infer<typeof AccessLink>;

export const ListedAccessLink = AccessLink.extend({ expiresAt: Timestamp.nullable() });
export type ListedAccessLink = z.infer<typeof ListedAccessLink>;

export const accessLinks = room({
  list: {
    method: QUERY,
    path: '/api/projects/:id/access-links',
    summary: 'List the access links of a project, page by page, newest first',
    body: cursorQuery({}),
    responses: { 200: cursorPage(ListedAccessLink) },
    metadata: {
      tool: 'list_project_access_links',
      tier: 'default',
      scopes: ['access-links:read'],
      subject: 'project',
      roles: LEADS,
    },
  },
  create: {
    method: 'POST',
    path: '/api/projects/:id/access-links',
    summary: 'Create an access link; its key is read with Get Access Link',
    body: z.strictObject({
      role: LinkRole,
      description: text({ max: 1024 }).nullable().optional(),
      expiresAt: ChosenTime.nullable().optional(),
    }),
    responses: { 201: created(Uuid) },
    metadata: {
      tier: 'tier-3',
      scopes: ['access-links:write'],
      subject: 'project',
      roles: LEADS,
      location: '/api/project-access-links/:id',
    },
  },
  get: {
    method: 'GET',
    path: '/api/project-access-links/:id',
    summary: 'Read an access link',
    description:
      'The key is null unless the credential also holds the scope `access-links:read.key`, and for a link whose key the server can no longer read.',
    responses: { 200: data(AccessLink) },
    metadata: {
      tool: 'get_project_access_link',
      tier: 'default',
      scopes: ['access-links:read'],
      subject: 'access-link',
      roles: LEADS,
    },
  },
  delete: {
    method: 'DELETE',
    path: '/api/project-access-links/:id',
    summary: 'Delete an access link; those who used it stay members',
    responses: { 204: NO_BODY },
    metadata: { tier: 'tier-3', scopes: ['access-links:write'], subject: 'access-link', roles: LEADS },
  },
  redeem: {
    method: 'POST',
    path: '/api/project-access-links/redeem',
    summary: 'Become a member of the project that an access key opens',
    description:
      'A role that is at least as strong stays, and so does what an owner or manager decided about the caller after the link was made: a lowered role, or a removal (404). Ten tries a minute from one address.',
    body: z.strictObject({ accessKey: text({ min: 1, max: 255 }) }),
    responses: { 201: created(Uuid) },
    metadata: {
      tier: 'tier-3',
      scopes: [],
      subject: null,
      roles: [],
      perAddress: 10,
      // Members are read as a list.
      location: null,
      problems: ['NOT_FOUND', 'PROJECT_DELETING'],
    },
  },
});
