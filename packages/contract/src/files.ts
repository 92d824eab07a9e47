import { z } from 'zod';
import { ANY_MEMBER, EDITORS } from './access.ts';
import { data, NO_BODY, QUERY, room } from './endpoint.ts';
import { Generation, GenerationDetails } from './generation.ts';
import { FileId, FolderId, reference, Uuid } from './ids.ts';
import { MAX_PAGES, Media, Pages, Rendition, range } from './media.ts';
import { OutputType } from './models.ts';
import { cursorPage, cursorQuery, sortedBy, wholeNumberParameter } from './paging.ts';
import { ReviewStatus } from './review-status.ts';
import { text } from './text.ts';
import { Timestamp } from './time.ts';
import { completing, Download, FileName, NewUpload, starting } from './upload.ts';

export const FILE_STATUSES = ['UPLOADING', 'GENERATING', 'UPLOADED', 'FAILED', 'CANCELED'] as const;
export const FileStatus = z.enum(FILE_STATUSES);
export type FileStatus = z.infer<typeof FileStatus>;

export const FileRecord = z
  .object({
    id: FileId,
    name: z.string(),
    description: z.string().nullable(),
    mode: z.enum(['GENERATED', 'UPLOADED']),
    status: FileStatus,
    tag: ReviewStatus,
    mimeType: z.string().nullable(),
    /** In bytes. */
    size: z.number().int().nullable(),
    sha256: z.string().nullable(),
    /** Whether restricted reviewers can see the file. */
    allowRestricted: z.boolean(),
    project: z.object({ id: Uuid }),
    folder: z.object({ id: FolderId }).nullable(),
    createdBy: z.object({ id: Uuid }),
    /** Null for plain uploads. */
    generation: Generation.nullable(),
    /** Null for what is not media, and until the content is complete. */
    media: Media.nullable(),
    /** A presigned URL of a small picture, without a credential. It stays the same for an hour. */
    thumbnailUrl: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'File' });
export type FileRecord = z.infer<typeof FileRecord>;

export const FileDetails = FileRecord.extend({ renditions: z.array(Rendition) }).meta({ id: 'FileDetails' });
export type FileDetails = z.infer<typeof FileDetails>;

export const TrashedFile = FileRecord.extend({
  trashedAt: Timestamp,
  /** When it is deleted with its content. */
  deletesAt: Timestamp,
}).meta({ id: 'TrashedFile' });
export type TrashedFile = z.infer<typeof TrashedFile>;

export const files = room({
  get: {
    method: 'GET',
    path: '/api/files/:id',
    summary: 'Read a file; `wait` holds the answer until its state is final',
    query: z.strictObject({
      wait: wholeNumberParameter(
        { min: 0, max: 60, default: 0 },
        'Seconds to hold the answer while the file is being generated. The answer comes after at most 50 seconds; then ask again.',
      ),
    }),
    responses: { 200: data(FileDetails) },
    metadata: {
      tool: 'get_file',
      tier: 'tier-4',
      scopes: ['files:read'],
      subject: 'file',
      roles: ANY_MEMBER,
      conditional: true,
    },
  },
  getGeneration: {
    method: 'GET',
    path: '/api/files/:id/generation',
    summary: 'Read how a file was generated, step by step',
    responses: { 200: data(GenerationDetails) },
    metadata: { tier: 'tier-4', scopes: ['files:read'], subject: 'file', roles: EDITORS },
  },
  list: {
    method: QUERY,
    path: '/api/projects/:id/files',
    summary: 'List the files of a project, page by page, newest first by default',
    body: cursorQuery({
      keyword: text({ min: 1, max: 100 })
        .optional()
        .describe('Only files whose name or description contains this text.'),
      folder: reference(FolderId)
        .nullable()
        .optional()
        .describe('Only the files of this folder; null is the root of the project.'),
      status: FileStatus.optional().describe('Only files in this state.'),
      outputType: OutputType.optional().describe('Only files that were generated as this type.'),
      tag: ReviewStatus.optional().describe('Only files with this review status.'),
      duration: range('Only videos and sounds with a duration in this range, in milliseconds.'),
      resolution: range('Only pictures and videos whose shorter side is in this range, in pixels.'),
      sort: sortedBy('createdAt', 'name'),
    }),
    responses: { 200: cursorPage(FileRecord) },
    metadata: {
      tool: 'list_project_files',
      tier: 'tier-4',
      scopes: ['files:read'],
      subject: 'project',
      roles: ANY_MEMBER,
      problems: ['REFERENCE_NOT_FOUND'],
    },
  },
  download: {
    method: 'GET',
    path: '/api/files/:id/download',
    summary: 'Get a link to download the content of a file',
    description: 'The link needs no credential and works until `expiresAt`.',
    responses: { 200: data(Download) },
    metadata: {
      tool: 'get_file_download',
      tier: 'tier-4',
      scopes: ['files:download'],
      subject: 'file',
      roles: ANY_MEMBER,
      problems: ['FILE_NOT_READY'],
    },
  },
  update: {
    method: 'PATCH',
    path: '/api/files/:id',
    summary: 'Rename, describe or move a file, or mark it for restricted access',
    body: z.strictObject({
      name: FileName.optional(),
      description: text({ max: 5000 }).nullable().optional(),
      folder: reference(FolderId).nullable().optional(),
      allowRestricted: z.boolean().optional(),
    }),
    responses: { 204: NO_BODY },
    metadata: {
      events: ['file.updated'],
      ifMatch: true,
      tier: 'tier-3',
      scopes: ['files:write'],
      subject: 'file',
      roles: EDITORS,
      problems: ['REFERENCE_NOT_FOUND'],
    },
  },
  setTag: {
    method: 'PATCH',
    path: '/api/files/:id/tag',
    summary: 'Set the review status of a file',
    description:
      'Owners, Managers and Members decide about single files. Reviewers decide about versions: Set the review status of a version.',
    body: z.strictObject({ tag: ReviewStatus }),
    responses: { 204: NO_BODY },
    metadata: {
      events: ['file.tagged'],
      ifMatch: true,
      tier: 'tier-3',
      scopes: ['files:write'],
      subject: 'file',
      roles: EDITORS,
    },
  },
  delete: {
    method: 'DELETE',
    path: '/api/files/:id',
    summary: 'Move a file to the trash; delete a file in the trash for good',
    description:
      'A running generation or an unfinished upload is canceled. Only an Owner or a Manager can delete a file in the trash. Send an `Idempotency-Key` or `trashed`, so that a retry does not delete for good.',
    query: z.strictObject({
      trashed: z
        .enum(['true', 'false'])
        .optional()
        .describe('Delete the file only if it is in the trash (`true`) or not (`false`); otherwise it is not found.'),
    }),
    responses: { 204: NO_BODY },
    metadata: {
      events: ['file.deleted', 'file.upload.canceled', 'file.generation.canceled'],
      tier: 'tier-3',
      scopes: ['files:write'],
      subject: 'stored-file',
      roles: EDITORS,
    },
  },
  restore: {
    method: 'POST',
    path: '/api/files/:id/restore',
    summary: 'Restore a file from the trash',
    description:
      'It returns to its folder, or to the root of the project if that folder is deleted. Does nothing if the file is not in the trash.',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: {
      events: ['file.restored'],
      tier: 'tier-3',
      scopes: ['files:write'],
      subject: 'stored-file',
      roles: EDITORS,
    },
  },
  trash: {
    method: QUERY,
    path: '/api/projects/:id/trash',
    summary: 'List the files in the trash of a project, page by page, the last deleted first',
    body: cursorQuery({}),
    responses: { 200: cursorPage(TrashedFile) },
    metadata: { tier: 'tier-4', scopes: ['files:read'], subject: 'project', roles: EDITORS },
  },
  rebuildMedia: {
    method: 'POST',
    path: '/api/files/:id/media.rebuild',
    summary: 'Read the media facts of a file again and make its renditions again, or make pictures of pages',
    body: z
      .strictObject({
        pages: Pages.optional().describe(
          `Makes a PAGE rendition of each of these pages of a PDF, numbered from 1, instead of making everything again. Pages that it does not have are left out, and so are those beyond ${MAX_PAGES} per file. Without this, they are deleted.`,
        ),
      })
      .optional(),
    responses: { 204: NO_BODY },
    metadata: {
      events: [],
      tier: 'tier-3',
      scopes: ['files:write'],
      subject: 'file',
      roles: EDITORS,
      problems: ['FILE_NOT_READY'],
    },
  },
  startUpload: {
    path: '/api/projects/:id/files/upload.multipart',
    summary: 'Start the upload of a file: answers with a signed URL for each part',
    ...starting(FileId, {
      events: ['file.created'],
      scopes: ['files:write'],
      subject: 'project',
      location: '/api/files/:id',
      roles: EDITORS,
      problems: ['REFERENCE_NOT_FOUND'],
    }),
    body: NewUpload.extend({ folder: reference(FolderId).nullable().optional() }),
  },
  completeUpload: {
    path: '/api/files/:id/upload.complete',
    summary: 'Complete the upload of a file',
    ...completing('file', ['file.upload.completed']),
  },
  cancel: {
    method: 'POST',
    path: '/api/files/:id/upload.cancel',
    summary: 'Cancel a running generation or an unfinished upload',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: {
      events: ['file.upload.canceled', 'file.generation.canceled'],
      tool: 'cancel_generation',
      tier: 'tier-3',
      scopes: ['ai:generate', 'files:write'],
      subject: 'file',
      roles: EDITORS,
      problems: ['FILE_NOT_CANCELABLE'],
    },
  },
});
