import { z } from 'zod';
import { ANY_MEMBER, REVIEWERS } from './access.ts';
import { Annotation } from './annotation.ts';
import { created, data, fileAnswer, NO_BODY, QUERY, room } from './endpoint.ts';
import { CommentAttachmentId, FileId, reference, references, Uuid } from './ids.ts';
import { Person } from './members.ts';
import { cursorPage, cursorQuery, Direction } from './paging.ts';
import { text } from './text.ts';
import { Timestamp } from './time.ts';

export const CommentAttachment = z
  .object({
    id: CommentAttachmentId,
    name: z.string(),
    mimeType: z.string().nullable(),
    /** In bytes. */
    size: z.number().int(),
  })
  .meta({ id: 'CommentAttachment' });
export type CommentAttachment = z.infer<typeof CommentAttachment>;

export const CommentRecord = z
  .object({
    id: Uuid,
    /** Null for a deleted comment, and for one with only attachments or a drawing. */
    content: z.string().nullable(),
    /** The people that the content names by `<@id>`, except those who have left the workspace. */
    mentions: z.array(Person),
    /** Null for a deleted comment. */
    author: Person.nullable(),
    project: z.object({ id: Uuid }),
    file: z.object({ id: FileId }).nullable(),
    parent: z.object({ id: Uuid }).nullable(),
    anchor: z.number().int().nullable(),
    /** With an anchor in milliseconds: the length of the range that starts there. */
    duration: z.number().int().nullable(),
    /** An `Annotation`, or null. What was stored before drawings had a version is returned unchanged. */
    annotation: z.unknown(),
    attachments: z.array(CommentAttachment),
    /** `reacted` is whether the caller has added this emoji. */
    reactions: z.array(z.object({ type: z.string(), count: z.number().int(), reacted: z.boolean() })),
    replies: z.object({ count: z.number().int() }),
    resolvedAt: Timestamp.nullable(),
    deletedAt: Timestamp.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Comment' });
export type CommentRecord = z.infer<typeof CommentRecord>;

/** A year, longer than any recording. */
const MAX_MILLISECONDS = 366 * 24 * 60 * 60 * 1000;

const MENTIONS =
  '`<@id>` mentions the person with that user id: a member of the project who can see the file. The event `comment.mentioned` names them.';

const newComment = {
  content: text({ max: 5000 }).optional().describe(`The text of the comment; optional with attachments. ${MENTIONS}`),
  parent: reference(Uuid).optional().describe('The top-level comment that this one replies to.'),
  attachments: references(CommentAttachmentId, { min: 1, max: 10 })
    .optional()
    .describe('The ids of uploaded comment attachments.'),
};

const saysSomething = (comment: { content?: string | undefined; attachments?: unknown[] | undefined }) =>
  (comment.content ?? '') !== '' || comment.attachments !== undefined;
/** The empty comment as JSON Schema, to be negated: openapi-generator would require every field of an `anyOf` of `required`, and does not support the type null in a `not`. */
const SILENT = { properties: { content: { maxLength: 0 } }, not: { required: ['attachments'] } };
const EMPTY = {
  error: 'Give some content or at least one attachment.',
  path: ['content'],
  params: { code: 'EMPTY_COMMENT' },
};

export const NewComment = z.strictObject(newComment).refine(saysSomething, EMPTY).meta({ not: SILENT });
export type NewComment = z.infer<typeof NewComment>;

export const NewFileComment = z
  .strictObject({
    ...newComment,
    anchor: z
      .number()
      .int()
      .min(0)
      .max(MAX_MILLISECONDS)
      .nullable()
      .optional()
      .describe('Milliseconds into a video, or the page of a document, from 1.'),
    duration: z
      .number()
      .int()
      .min(0)
      .max(MAX_MILLISECONDS)
      .nullable()
      .optional()
      .describe('The length of the range that starts at the anchor, in milliseconds.'),
    annotation: Annotation.nullable().optional().describe('A drawing on the shown frame.'),
  })
  .refine((comment) => saysSomething(comment) || (comment.annotation ?? null) !== null, {
    ...EMPTY,
    error: 'Give some content, a drawing or at least one attachment.',
  })
  .meta({ not: { ...SILENT, properties: { ...SILENT.properties, annotation: { enum: [null] } } } });
export type NewFileComment = z.infer<typeof NewFileComment>;

const commentQuery = <const Types extends readonly ['createdAt', ...string[]]>(types: Types) =>
  cursorQuery({
    sort: z
      .strictObject({
        type: z.enum(types).default('createdAt').describe('The field to sort by.'),
        direction: Direction.default('asc').describe('Oldest (`asc`) or newest (`desc`) first.'),
      })
      .default({ type: 'createdAt', direction: 'asc' })
      .describe('The order of the list.'),
    resolved: z.boolean().optional().describe('true for resolved comments only, false for unresolved ones only.'),
  });
const CommentQuery = commentQuery(['createdAt']);
const FileCommentQuery = commentQuery(['createdAt', 'anchor']);

/** A comment on the timeline of a file, without its text. */
export const CommentPin = z
  .object({
    id: Uuid,
    anchor: z.number().int().nullable(),
    duration: z.number().int().nullable(),
    /** Whether the comment has a drawing; Get Comment returns it. */
    drawn: z.boolean(),
    resolved: z.boolean(),
    /** The name of the author. */
    author: z.string(),
    /** The first characters of the content, with names in place of mentions; null without content. */
    excerpt: z.string().nullable(),
  })
  .meta({ id: 'CommentPin' });
export type CommentPin = z.infer<typeof CommentPin>;
/** The newest pins; older ones are only in the list of comments. */
export const MAX_PINS = 10_000;
export const PIN_EXCERPT = 80;

export const EXPORT_FORMATS = ['csv', 'edl', 'xmeml', 'fcpxml', 'pdf'] as const;
/** The limits of an export as PDF. A reply counts as a comment. */
export const MAX_PDF_COMMENTS = 5000;
export const MAX_PDF_CHARACTERS = 500_000;
export const MAX_PDF_PICTURES = 500;
export const ExportFormat = z.enum(EXPORT_FORMATS).meta({ id: 'ExportFormat' });
export type ExportFormat = z.infer<typeof ExportFormat>;

const writing = {
  events: ['comment.created', 'comment.mentioned'],
  location: '/api/comments/:id',
  tier: 'tier-4',
  scopes: ['comments:write'],
  roles: ANY_MEMBER,
  problems: ['REFERENCE_NOT_FOUND', 'PARENT_NOT_TOP_LEVEL', 'ATTACHMENT_NOT_READY', 'ATTACHMENT_USED'],
} as const;
const reading = { tier: 'tier-4', scopes: ['comments:read'], roles: ANY_MEMBER } as const;

export const comments = room({
  create: {
    method: 'POST',
    path: '/api/projects/:id/comments',
    summary: 'Comment on a project, or reply to a comment on it',
    body: NewComment,
    responses: { 201: created(Uuid) },
    metadata: { ...writing, tool: 'create_project_comment', subject: 'project' },
  },
  createOnFile: {
    method: 'POST',
    path: '/api/files/:id/comments',
    summary: 'Comment on a file, or reply to a comment on it',
    body: NewFileComment,
    responses: { 201: created(Uuid) },
    metadata: { ...writing, tool: 'create_file_comment', subject: 'file' },
  },
  list: {
    method: QUERY,
    path: '/api/projects/:id/comments',
    summary: 'List the top-level comments on a project, page by page',
    description: 'Ascending, the list starts at its newest page and `prev` loads older comments.',
    body: CommentQuery,
    responses: { 200: cursorPage(CommentRecord) },
    metadata: { ...reading, tool: 'list_project_comments', subject: 'project' },
  },
  listOnFile: {
    method: QUERY,
    path: '/api/files/:id/comments',
    summary: 'List the top-level comments on a file, page by page',
    description:
      'Ascending by `createdAt`, the list starts at its newest page and `prev` loads older comments. By `anchor`, it starts with the earliest; comments without an anchor are last.',
    body: FileCommentQuery,
    responses: { 200: cursorPage(CommentRecord) },
    metadata: { ...reading, tool: 'list_file_comments', subject: 'file' },
  },
  listPins: {
    method: 'GET',
    path: '/api/files/:id/comments/pins',
    summary: 'List where the comments on a file are: their times or pages, and which have drawings',
    description: `The top-level comments with an anchor or a drawing, at once and without their texts; the newest ${MAX_PINS} if there are more.`,
    responses: { 200: data(z.array(CommentPin)) },
    metadata: { ...reading, subject: 'file' },
  },
  exportOnFile: {
    method: 'GET',
    path: '/api/files/:id/comments/export',
    summary:
      'Export the comments on a file, with their replies, for a spreadsheet, an editing program or as a document',
    description: `Frames are counted by the exact rate of the video, from 0, with drop frame at 29.97 and 59.94. All formats but \`csv\` and \`pdf\` have only comments with a time. A PDF has at most ${MAX_PDF_COMMENTS} comments and replies with ${MAX_PDF_CHARACTERS} characters, and ${MAX_PDF_PICTURES} pictures, for which the credential needs \`files:read\`.`,
    query: z.strictObject({
      format: ExportFormat.default('csv').describe(
        'A table (`csv`), a CMX 3600 list with locators (`edl`), the markers of a sequence for Premiere (`xmeml`) or Final Cut Pro (`fcpxml`), or a document with pictures (`pdf`).',
      ),
    }),
    responses: { 200: fileAnswer() },
    metadata: { ...reading, subject: 'file', problems: ['FRAME_RATE_UNKNOWN'] },
  },
  listReplies: {
    method: QUERY,
    path: '/api/comments/:id/replies',
    summary: 'List the replies to a comment, page by page',
    description: 'Ascending, the list starts at its newest page and `prev` loads older replies.',
    body: CommentQuery,
    responses: { 200: cursorPage(CommentRecord) },
    metadata: { ...reading, tool: 'list_comment_replies', subject: 'comment' },
  },
  get: {
    method: 'GET',
    path: '/api/comments/:id',
    summary: 'Read a comment',
    responses: { 200: data(CommentRecord) },
    metadata: { ...reading, subject: 'comment', conditional: true },
  },
  update: {
    method: 'PATCH',
    path: '/api/comments/:id',
    summary: 'Edit a comment; only its author can',
    body: z.strictObject({
      content: text({ min: 1, max: 5000 })
        .optional()
        .describe(`The new text. ${MENTIONS} Mentions that the comment had before may stay.`),
    }),
    responses: { 204: NO_BODY },
    metadata: {
      events: ['comment.updated', 'comment.mentioned'],
      ifMatch: true,
      tier: 'tier-4',
      scopes: ['comments:write'],
      subject: 'comment',
      roles: ANY_MEMBER,
      only: 'author',
      problems: ['REFERENCE_NOT_FOUND'],
    },
  },
  delete: {
    method: 'DELETE',
    path: '/api/comments/:id',
    summary: 'Delete a comment; its author, an owner or a manager can',
    responses: { 204: NO_BODY },
    metadata: {
      events: ['comment.deleted'],
      tier: 'tier-4',
      scopes: ['comments:write'],
      subject: 'comment',
      roles: ANY_MEMBER,
      only: 'author-or-lead',
    },
  },
  resolve: {
    method: 'POST',
    path: '/api/comments/:id/resolve',
    summary: 'Mark a comment as resolved',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: {
      events: ['comment.resolved'],
      tier: 'tier-4',
      scopes: ['comments:write'],
      subject: 'comment',
      roles: REVIEWERS,
    },
  },
  cancelResolve: {
    method: 'POST',
    path: '/api/comments/:id/resolve.cancel',
    summary: 'Reopen a resolved comment',
    body: NO_BODY,
    responses: { 204: NO_BODY },
    metadata: {
      events: ['comment.reopened'],
      tier: 'tier-4',
      scopes: ['comments:write'],
      subject: 'comment',
      roles: REVIEWERS,
    },
  },
});
