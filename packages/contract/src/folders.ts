import { z } from 'zod';
import { ANY_MEMBER, EDITORS } from './access.ts';
import { created, data, NO_BODY, room } from './endpoint.ts';
import { FolderId, reference } from './ids.ts';
import { text } from './text.ts';
import { Timestamp } from './time.ts';

const FolderName = text({ min: 1, max: 64 });

export const Folder = z
  .object({
    id: FolderId,
    name: z.string(),
    parent: z.object({ id: FolderId }).nullable(),
    createdAt: Timestamp,
  })
  .meta({ id: 'Folder' });
export type Folder = z.infer<typeof Folder>;

export const folders = room({
  create: {
    method: 'POST',
    path: '/api/projects/:id/folders',
    summary: 'Create a folder',
    body: z.strictObject({
      name: FolderName.describe('Need not be unique.'),
      parent: reference(FolderId)
        .nullable()
        .optional()
        .describe('The parent folder; null or omitted for the root of the project.'),
    }),
    responses: { 201: created(FolderId) },
    metadata: {
      events: ['folder.created'],
      tool: 'create_folder',
      tier: 'tier-3',
      scopes: ['folders:write'],
      subject: 'project',
      // No location: folders are only read as a list.
      location: null,
      roles: EDITORS,
      problems: ['REFERENCE_NOT_FOUND'],
    },
  },
  list: {
    method: 'GET',
    path: '/api/projects/:id/folders',
    summary: 'List every folder of a project',
    description:
      'A restricted reviewer receives only the folders with a file that they can see, and the parents of those.',
    responses: { 200: data(z.array(Folder)) },
    metadata: {
      tool: 'list_project_folders',
      tier: 'default',
      scopes: ['folders:read'],
      subject: 'project',
      roles: ANY_MEMBER,
    },
  },
  update: {
    method: 'PATCH',
    path: '/api/folders/:id',
    summary: 'Rename or move a folder',
    body: z.strictObject({ name: FolderName.optional(), parent: reference(FolderId).nullable().optional() }),
    responses: { 204: NO_BODY },
    metadata: {
      events: ['folder.updated'],
      tier: 'tier-3',
      scopes: ['folders:write'],
      subject: 'folder',
      roles: EDITORS,
      problems: ['REFERENCE_NOT_FOUND', 'FOLDER_CYCLE'],
    },
  },
  delete: {
    method: 'DELETE',
    path: '/api/folders/:id',
    summary: 'Delete an empty folder',
    responses: { 204: NO_BODY },
    metadata: {
      events: ['folder.deleted'],
      tier: 'tier-3',
      scopes: ['folders:write'],
      subject: 'folder',
      roles: EDITORS,
      problems: ['FOLDER_NOT_EMPTY'],
    },
  },
});
