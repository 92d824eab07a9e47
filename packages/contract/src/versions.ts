import { z } from 'zod';
import { ANY_MEMBER, EDITORS, ProjectRole, REVIEWERS } from './access.ts';
import { created, data, NO_BODY, QUERY, room } from './endpoint.ts';
import { FileId, references, Uuid } from './ids.ts';
import { cursorPage, cursorQuery, Direction, numberedPage, wholeNumberParameter } from './paging.ts';
import { ReviewStatus } from './review-status.ts';
import { text } from './text.ts';
import { Timestamp } from './time.ts';

const VersionName = text({ min: 1, max: 100 });
const VersionDescription = text({ max: 5000 }).nullable();
const VersionFiles = references(FileId, { max: 1000 });

export const Version = z
  .object({
    id: Uuid,
    name: z.string(),
    description: z.string().nullable(),
    status: ReviewStatus,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    project: z.object({ id: Uuid }),
  })
  .meta({ id: 'Version' });
export type Version = z.infer<typeof Version>;

export const VersionDetails = Version.extend({
  allowRestricted: z.boolean(),
  files: z.array(z.object({ id: FileId })),
  /** The thumbnail of its first file that has one. */
  thumbnailUrl: z.string().nullable(),
});
export type VersionDetails = z.infer<typeof VersionDetails>;

/** A version in a list over several projects. */
export const ProjectVersion = Version.extend({
  project: z.object({ id: Uuid, name: z.string() }),
  /** The role of the caller in the project, which decides whether they can set the status. */
  role: ProjectRole,
  /** How many files it has that the caller can see. */
  files: z.object({ count: z.number().int() }),
}).meta({ id: 'ProjectVersion' });
export type ProjectVersion = z.infer<typeof ProjectVersion>;

export const versions = room({
  listMine: {
    method: QUERY,
    path: '/api/versions',
    summary: 'List the versions that need a review, in all projects',
    description:
      "What waits for the caller's decision, newest first: Owners, Managers, Members and Reviewers set the status of a version. A restricted reviewer receives only the versions marked for restricted access, to comment on. Projects that are being deleted are left out.",
    body: cursorQuery({
      status: ReviewStatus.default('NEED_REVIEW').describe('Only versions with this review status.'),
    }),
    responses: { 200: cursorPage(ProjectVersion) },
    metadata: { tool: 'list_versions_to_review', tier: 'tier-4', scopes: ['projects:read'], subject: null, roles: [] },
  },
  list: {
    method: 'GET',
    path: '/api/projects/:id/versions',
    summary: 'List the versions of a project',
    description: 'A restricted reviewer receives only the versions marked for restricted access.',
    query: z.strictObject({
      page: wholeNumberParameter({ min: 1, max: 100, default: 1 }, 'The number of the page, from 1.'),
      'sort.type': z.enum(['name', 'createdAt']).default('createdAt').describe('The field to sort by.'),
      'sort.direction': Direction.default('desc').describe('Ascending or descending.'),
    }),
    responses: { 200: numberedPage(Version) },
    metadata: { tool: 'list_project_versions', tier: 'tier-4', scopes: [], subject: 'project', roles: ANY_MEMBER },
  },
  create: {
    method: 'POST',
    path: '/api/projects/:id/versions',
    summary: 'Create a version of a project',
    body: z.strictObject({
      name: VersionName,
      description: VersionDescription.optional(),
      allowRestricted: z.boolean().optional(),
      files: VersionFiles.optional(),
    }),
    responses: { 201: created(Uuid) },
    metadata: {
      events: ['version.created'],
      tier: 'tier-3',
      scopes: ['projects:write'],
      subject: 'project',
      location: '/api/versions/:id',
      roles: EDITORS,
      problems: ['REFERENCE_NOT_FOUND'],
    },
  },
  get: {
    method: 'GET',
    path: '/api/versions/:id',
    summary: 'Read a version and the files it holds',
    responses: { 200: data(VersionDetails) },
    metadata: { tier: 'tier-4', scopes: [], subject: 'version', roles: ANY_MEMBER, conditional: true },
  },
  update: {
    method: 'PATCH',
    path: '/api/versions/:id',
    summary: 'Change a version; a given list of files replaces the old one',
    body: z.strictObject({
      name: VersionName.optional(),
      description: VersionDescription.optional(),
      allowRestricted: z.boolean().optional(),
      files: VersionFiles.optional(),
    }),
    responses: { 204: NO_BODY },
    metadata: {
      events: ['version.updated'],
      ifMatch: true,
      tier: 'tier-3',
      scopes: ['projects:write'],
      subject: 'version',
      roles: EDITORS,
      problems: ['REFERENCE_NOT_FOUND'],
    },
  },
  setStatus: {
    method: 'PATCH',
    path: '/api/versions/:id/status',
    summary: 'Set the review status of a version; only an owner or manager reopens a closed one',
    description:
      'The decision about a version is one for all: that of an Owner, a Manager, a Member or a Reviewer. Restricted Reviewers comment only.',
    body: z.strictObject({ status: ReviewStatus }),
    responses: { 204: NO_BODY },
    metadata: {
      events: ['version.status.changed'],
      ifMatch: true,
      tier: 'tier-4',
      scopes: ['projects:write'],
      subject: 'version',
      roles: REVIEWERS,
    },
  },
});
