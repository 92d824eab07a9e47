import {
  type CommentRecord,
  type Contract,
  type Direction,
  mentionedIn,
  mentionOf,
  type NewFileComment,
  PIN_EXCERPT,
  withNames,
} from '@review/contract';
import { newUuid } from '../../db/ids.ts';
import { parseJson } from '../../db/json.ts';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import type { Caller } from '../../request/caller.ts';
import { cursors } from '../../request/cursors.ts';
import { ProblemError, referenceNotFound } from '../../request/problem.ts';
import { attachToComment, findAttachments } from '../attachments/queries.ts';
import type { NewEvent, Written } from '../events/outbox.ts';
import { lockFile } from '../files/queries.ts';
import type { Handlers } from '../handler.ts';
import { listRenditions } from '../media/queries.ts';
import { toMedia } from '../media/response.ts';
import { findWorkspacePeople } from '../members/queries.ts';
import { dropUploads } from '../uploads/queries.ts';
import { exportComments, exportedFile } from './export/export.ts';
import { Frames } from './export/frames.ts';
import type { PictureSource } from './export/pdf.ts';
import { drawnShapes, exportedComments } from './export/queries.ts';
import {
  type CommentParts,
  deleteComment,
  deleteReactions,
  findCommentParts,
  findMentioned,
  hasReplies,
  insertComment,
  listComments,
  listCommentUploads,
  listPins,
  lockAttachments,
  lockComment,
  type StoredComment,
  type StoredPerson,
  type Thread,
  updateComment,
  updateContent,
} from './queries.ts';

interface CommentQuery {
  sort: { type: 'createdAt' | 'anchor'; direction: Direction };
  resolved?: boolean | undefined;
  next?: string | undefined;
  prev?: string | undefined;
}

export const comments = ({ db, log, secrets, storage }: Deps): Handlers<Contract['comments']> => {
  async function listThread(caller: Caller, thread: Thread, { sort, resolved, next, prev }: CommentQuery) {
    const pages = cursors(secrets.cursor, 'comments', { thread, sort, resolved });
    // Conversations are read from their end: ascending by time of creation, lists start with the newest page.
    const startAtEnd = sort.type === 'createdAt' && sort.direction === 'asc';
    const request = { direction: sort.direction, from: pages.position({ next, prev }), startAtEnd };
    const page = await listComments(db, request, thread, { resolved, sort: sort.type });
    const parts = await findCommentParts(db, caller, page.items);
    return pages.answer(page, (comment) => toResponse(comment, parts));
  }

  return {
    create: ({ caller, subject: project, body, write }) =>
      write((trx) => addComment(trx, caller, { project_id: project.id, file_id: null }, body)),

    createOnFile: ({ caller, subject: file, body, write }) =>
      write((trx) => addComment(trx, caller, { project_id: file.project_id, file_id: file.id }, body)),

    list: ({ caller, subject: project, body }) => listThread(caller, { projectId: project.id }, body),

    listOnFile: ({ caller, subject: file, body }) => listThread(caller, { fileId: file.id }, body),

    listReplies: ({ caller, subject: comment, body }) => listThread(caller, { parentId: comment.id }, body),

    listPins: async ({ caller, subject: file }) => {
      const pins = await listPins(db, { fileId: file.id, workspaceId: caller.workspaceId });
      const people = await findWorkspacePeople(db, {
        workspaceId: caller.workspaceId,
        userIds: [...new Set(pins.flatMap(({ beginning }) => mentionedIn(beginning)))],
      });
      const data = pins.map((pin) => ({
        id: pin.id,
        anchor: pin.anchor,
        duration: pin.duration,
        drawn: Boolean(pin.is_drawn),
        resolved: pin.resolved_at !== null,
        author: pin.name,
        excerpt: pin.beginning === null ? null : excerptOf(pin.beginning, people),
      }));
      return { data };
    },

    exportOnFile: async ({ caller, subject: file, query: { format } }) => {
      const media = toMedia(file);
      const found = exportedComments(db, caller.workspaceId, file.id);
      // Renditions are part of the file, which the scope for comments does not open.
      const shown = format === 'pdf' && caller.scopes.has('files:read') ? await listRenditions(db, file.id) : [];
      const frames = new Frames(media, shown, storage);
      const pictures: PictureSource = {
        frameOf: (comment) =>
          frames.find(comment).catch((error: unknown) => {
            log.warn({ err: error, fileId: file.id }, 'picture of an export cannot be read');
            throw error;
          }),
        shapesOf: ({ id }) => drawnShapes(db, id),
        isPageLeftOut: () => frames.isPageLeftOut,
      };
      return exportComments(format, exportedFile(file.name, media), found, pictures);
    },

    get: async ({ caller, subject: comment }) => ({
      data: toResponse(comment, await findCommentParts(db, caller, [comment])),
    }),

    update: ({ caller, subject, body: { content }, write }) =>
      write(async (trx) => {
        const comment = await getLiveComment(trx, subject.id);
        if (content === undefined) return { answer: undefined, events: [] };
        const { searched, events } = await readMentions(trx, caller, { ...comment, content }, comment.content);
        await updateContent(trx, { id: comment.id, content, updated_at: now() }, searched);
        return { answer: undefined, events: [eventOf('comment.updated', comment), ...events] };
      }),

    delete: ({ subject, write }) =>
      write(async (trx) => {
        // Locks file, parent and comment in the same order as replying and deleting the file, to prevent deadlocks.
        await requireFile(trx, subject.file_id);
        if (subject.parent_id !== null) await lockComment(trx, subject.parent_id);
        const comment = await getLiveComment(trx, subject.id);
        await removeComment(trx, comment);
        return { answer: undefined, events: [eventOf('comment.deleted', comment)] };
      }),

    resolve: ({ subject, write }) =>
      write(async (trx) => {
        const comment = await getLiveComment(trx, subject.id);
        if (comment.resolved_at !== null) return { answer: undefined, events: [] };
        await updateComment(trx, { id: comment.id, resolved_at: now() });
        return { answer: undefined, events: [eventOf('comment.resolved', comment)] };
      }),

    cancelResolve: ({ subject, write }) =>
      write(async (trx) => {
        const comment = await getLiveComment(trx, subject.id);
        if (comment.resolved_at === null) return { answer: undefined, events: [] };
        await updateComment(trx, { id: comment.id, resolved_at: null });
        return { answer: undefined, events: [eventOf('comment.reopened', comment)] };
      }),
  };
};

/** Locks a comment that is not deleted. Deleted comments with replies stay in lists, but cannot be changed. */
async function getLiveComment(trx: Writer, id: string): Promise<StoredComment> {
  const comment = await lockComment(trx, id);
  if (comment === undefined || comment.deleted_at !== null) throw new ProblemError('NOT_FOUND');
  return comment;
}

/** Locks the file until the transaction ends, because deleting it deletes its comments. */
async function requireFile(trx: Writer, id: string | null): Promise<void> {
  if (id !== null && (await lockFile(trx, id)) === undefined) throw new ProblemError('NOT_FOUND');
}

async function addComment(
  trx: Writer,
  caller: Caller,
  about: Pick<StoredComment, 'project_id' | 'file_id'>,
  body: NewFileComment,
): Promise<Written<{ data: { id: string } }, 'comment.created' | 'comment.mentioned'>> {
  const parentId = body.parent?.id ?? null;
  await requireFile(trx, about.file_id);
  if (parentId !== null) {
    const parent = await lockComment(trx, parentId);
    if (parent?.project_id !== about.project_id || parent.file_id !== about.file_id)
      throw referenceNotFound('/parent/id');
    if (parent.parent_id !== null) throw new ProblemError('PARENT_NOT_TOP_LEVEL', { errors: notTopLevel });
  }
  const [id, at] = [newUuid(), now()];
  const content = body.content === undefined || body.content === '' ? null : body.content;
  const { searched, events } = await readMentions(trx, caller, { ...about, id, content }, null);
  const comment = {
    id,
    ...about,
    parent_id: parentId,
    author_id: caller.userId,
    content,
    anchor: body.anchor ?? null,
    duration: body.duration ?? null,
    annotation: body.annotation == null ? null : JSON.stringify(body.annotation),
    created_at: at,
    updated_at: at,
  };
  await insertComment(trx, comment, searched);
  const attached = (body.attachments ?? []).map((attachment) => attachment.id);
  await requireFree(trx, about.project_id, caller.userId, attached);
  if (!(await attachToComment(trx, id, attached))) throw new ProblemError('ATTACHMENT_USED');
  const data = {
    file: fileOf(about),
    parent: parentId === null ? null : { id: parentId },
    attachments: attached.map((attachment) => ({ id: attachment })),
  };
  return {
    answer: { data: { id } },
    events: [{ type: 'comment.created', projectId: about.project_id, subjectId: id, data }, ...events],
  };
}

/**
 * Reads whom the content mentions. Throws if one of them cannot see the comment, unless the content before mentioned them
 * too. Returns the text to search in, and the event for those who are new.
 */
async function readMentions(
  trx: Writer,
  { workspaceId }: Caller,
  comment: Pick<StoredComment, 'id' | 'project_id' | 'file_id' | 'content'>,
  before: string | null,
): Promise<{ searched: string; events: NewEvent<'comment.mentioned'>[] }> {
  const { id, project_id: projectId, file_id: fileId, content } = comment;
  const userIds = mentionedIn(content);
  const people = await findMentioned(trx, { workspaceId, projectId, fileId: fileId ?? undefined, userIds });
  const known = new Set(mentionedIn(before));
  const added = userIds.filter((userId) => !known.has(userId));
  const blind = added.filter((userId) => !people.some((person) => person.id === userId && person.canSee));
  if (blind.length > 0) throw notMentionable(blind, fileId);
  const data = { file: fileOf(comment), users: added.map((userId) => ({ id: userId })) };
  return {
    searched: withNames(content ?? '', people),
    events: added.length === 0 ? [] : [{ type: 'comment.mentioned', projectId, subjectId: id, data }],
  };
}

const notMentionable = (userIds: string[], fileId: string | null) =>
  new ProblemError('REFERENCE_NOT_FOUND', {
    errors: userIds.map((userId) => ({
      pointer: '/content',
      code: 'REFERENCE_NOT_FOUND',
      message: `${mentionOf(userId)} must name a member of the project${fileId === null ? '' : ' who can see the file'}.`,
    })),
  });

const fileOf = ({ file_id: id }: Pick<StoredComment, 'file_id'>) => (id === null ? null : { id });

/** The event of a change of a comment. */
const eventOf = <T extends 'comment.updated' | 'comment.deleted' | 'comment.resolved' | 'comment.reopened'>(
  type: T,
  comment: StoredComment,
) => ({ type, projectId: comment.project_id, subjectId: comment.id, data: { file: fileOf(comment) } });

async function requireFree(trx: Writer, projectId: string, userId: string, ids: string[]): Promise<void> {
  await lockAttachments(trx, ids);
  const known = await findAttachments(trx, projectId, userId, ids);
  const pointersOf = (isAt: (id: string) => boolean) =>
    ids.flatMap((id, index) => (isAt(id) ? [`/attachments/${index}/id`] : []));
  const refuse = (code: 'ATTACHMENT_NOT_READY' | 'ATTACHMENT_USED', message: string, pointers: string[]) => {
    if (pointers.length === 0) return;
    throw new ProblemError(code, { errors: pointers.map((pointer) => ({ pointer, code, message })) });
  };
  const unknown = pointersOf((id) => !known.has(id));
  if (unknown.length > 0) throw referenceNotFound(...unknown);
  refuse(
    'ATTACHMENT_NOT_READY',
    'Complete the upload of this attachment first.',
    pointersOf((id) => known.get(id)?.completed === false),
  );
  refuse(
    'ATTACHMENT_USED',
    'Another comment uses this attachment. Upload it again.',
    pointersOf((id) => known.get(id)?.used === true),
  );
}

const notTopLevel = [
  {
    pointer: '/parent/id',
    code: 'PARENT_NOT_TOP_LEVEL',
    message: 'Must be the id of a top-level comment: the one that started the thread.',
  },
];

async function removeComment(trx: Writer, comment: StoredComment): Promise<void> {
  await dropUploads(trx, await listCommentUploads(trx, comment.id), now());
  if (await hasReplies(trx, comment.id)) {
    const at = now();
    const nothing = { content: null, folded_text: '', annotation: null };
    await updateComment(trx, { id: comment.id, ...nothing, deleted_at: at, updated_at: at });
    await deleteReactions(trx, comment.id);
    return;
  }
  await deleteComment(trx, comment.id);
  if (comment.parent_id === null) return;
  // A deleted parent is kept only while it has replies.
  const parent = await lockComment(trx, comment.parent_id);
  if (parent?.deleted_at && !(await hasReplies(trx, parent.id))) await deleteComment(trx, parent.id);
}

/** The start of a content, with names. A token that the end cuts off is dropped. */
const excerptOf = (beginning: string, people: { id: string; name: string }[]) =>
  [...withNames(beginning.replace(/<@?[0-9a-f-]*$/i, ''), people)].slice(0, PIN_EXCERPT).join('');

const toPerson = ({ id, name, avatar_url: avatarUrl }: StoredPerson) => ({ id, name, avatarUrl });

function toResponse(comment: StoredComment, parts: CommentParts): CommentRecord {
  const author = comment.deleted_at === null ? parts.authors.get(comment.author_id) : undefined;
  return {
    id: comment.id,
    content: comment.content,
    mentions: mentionedIn(comment.content).flatMap((id) => {
      const person = parts.mentioned.get(id);
      return person === undefined ? [] : [toPerson(person)];
    }),
    author: author ? toPerson(author) : null,
    project: { id: comment.project_id },
    file: fileOf(comment),
    parent: comment.parent_id === null ? null : { id: comment.parent_id },
    anchor: comment.anchor,
    duration: comment.duration,
    annotation: parseJson(comment.annotation),
    attachments: (parts.attachments.get(comment.id) ?? []).map(({ id, name, mime_type: mimeType, size }) => ({
      id,
      name,
      mimeType,
      size,
    })),
    reactions: parts.reactions.get(comment.id) ?? [],
    replies: { count: parts.replies.get(comment.id) ?? 0 },
    resolvedAt: comment.resolved_at,
    deletedAt: comment.deleted_at,
    createdAt: comment.created_at,
    updatedAt: comment.updated_at,
  };
}
