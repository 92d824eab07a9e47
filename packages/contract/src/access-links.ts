import { z } from 'zod';
import { LEADS, ProjectRole } from './access.ts';
import { created, data, NO_BODY, QUERY, room } from './endpoint.ts';
import { Uuid } from './ids.ts';
import { cursorPage, cursorQuery } from './paging.ts';
import { text } from './text.ts';
import { ChosenTime, Timestamp } from './time.ts';

/** A link cannot grant the roles of owner and manager. */
export const LinkRole = ProjectRole.exclude(['PROJECT_OWNER', 'PROJECT_MANAGER']);
export type LinkRole = z.infer<typeof LinkRole>;

export const AccessLink = z
  .object({
    id: Uuid,
    /** Null without the scope `access-links:read.key`, or if the server's SECRET_KEY has changed since. */
    accessKey: z.string().nullable(),
    description: z.string().nullable(),
    role: LinkRole,
    createdAt: Timestamp,
  })
  .meta({ id: 'AccessLink' });
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
      events: ['link.created'],
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
      'The key is null without the scope `access-links:read.key`, or if the server can no longer decrypt it.',
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
    summary: 'Delete an access link; members who joined with it stay',
    responses: { 204: NO_BODY },
    metadata: {
      events: ['link.deleted'],
      tier: 'tier-3',
      scopes: ['access-links:write'],
      subject: 'access-link',
      roles: LEADS,
    },
  },
  redeem: {
    method: 'POST',
    path: '/api/project-access-links/redeem',
    summary: 'Join the project of an access key',
    description:
      'A caller with an equal or stronger role keeps it. If an owner or manager has lowered the role of the caller or removed them since the link was created, that decision stays; a removal answers 404. At most ten requests a minute from one address.',
    body: z.strictObject({ accessKey: text({ min: 1, max: 255 }) }),
    responses: { 201: created(Uuid) },
    metadata: {
      events: ['link.redeemed', 'member.added', 'member.changed'],
      tier: 'tier-3',
      scopes: [],
      subject: null,
      roles: [],
      perAddress: 10,
      // No location: members are only read as a list.
      location: null,
      problems: ['NOT_FOUND', 'PROJECT_DELETING'],
    },
  },
});
