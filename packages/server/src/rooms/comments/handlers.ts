import type { CommentRecord, Contract, Direction, NewFileComment } from '@review/contract';
import { newUuid } from '../../db/ids.ts';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import type { Caller } from '../../request/caller.ts';
import { cursors } from '../../request/cursors.ts';
import { ProblemError, referenceNotFound } from '../../request/problem.ts';
import { attachToComment, findAttachments } from '../attachments/queries.ts';
import { lockFile } from '../files/queries.ts';
import type { Handlers } from '../handler.ts';
import { dropUploads } from '../uploads/queries.ts';
import {
  blankComment,
  type CommentParts,
  deleteComment,
  findCommentParts,
  hasReplies,
  insertComment,
  listComments,
  listCommentUploads,
  lockAttachments,
  lockComment,
  type StoredComment,
  setResolved,
  type Thread,
  updateContent,
} from './queries.ts';

interface CommentQuery {
  sort: { direction: Direction };
  resolved?: boolean | undefined;
  next?: string | undefined;
  prev?: string | undefined;
}

export const comments = ({ db, secrets }: Deps): Handlers<Contract['comments']> => {
  async function listThread(caller: Caller, thread: Thread, { sort, resolved, next, prev }: CommentQuery) {
    const pages = cursors(secrets.cursor, 'comments', { thread, sort, resolved });
    // Conversations are read from their end: ascending lists start with the newest page.
    const startAtEnd = sort.direction === 'asc';
    const request = { direction: sort.direction, from: pages.position({ next, prev }), startAtEnd };
    const page = await listComments(db, thread, resolved, request);
    const parts = await findCommentParts(db, caller, page.items);
    return pages.answer(page, (comment) => toResponse(comment, parts));
  }

  return {
    create: ({ caller, subject: project, body, write }) =>
      write((trx) => addComment(trx, caller, { projectId: project.id, fileId: null }, body)),

    createOnFile: ({ caller, subject: file, body, write }) =>
      write((trx) => addComment(trx, caller, { projectId: file.projectId, fileId: file.id }, body)),

    list: ({ caller, subject: project, body }) => listThread(caller, { projectId: project.id }, body),

    listOnFile: ({ caller, subject: file, body }) => listThread(caller, { fileId: file.id }, body),

    listReplies: ({ caller, subject: comment, body }) => listThread(caller, { parentId: comment.id }, body),

    get: async ({ caller, subject: comment }) => ({
      data: toResponse(comment, await findCommentParts(db, caller, [comment])),
    }),

    update: ({ subject, body, write }) =>
      write(async (trx) => {
        const comment = await getLiveComment(trx, subject.id);
        if (body.content !== undefined) await updateContent(trx, comment.id, body.content, now());
      }),

    delete: ({ subject, write }) =>
      write(async (trx) => {
        // Locks file, parent and comment in the same order as replying and deleting the file, to prevent deadlocks.
        await requireFile(trx, subject.fileId);
        if (subject.parentId !== null) await lockComment(trx, subject.parentId);
        const comment = await getLiveComment(trx, subject.id);
        await removeComment(trx, comment);
      }),

    resolve: ({ subject, write }) =>
      write(async (trx) => {
        const comment = await getLiveComment(trx, subject.id);
        if (comment.resolvedAt === null) await setResolved(trx, comment.id, now());
      }),

    cancelResolve: ({ subject, write }) =>
      write(async (trx) => {
        const comment = await getLiveComment(trx, subject.id);
        await setResolved(trx, comment.id, null);
      }),
  };
};

/** Locks a comment that is not deleted. Deleted comments with replies stay in lists, but cannot be changed. */
async function getLiveComment(trx: Writer, id: string): Promise<StoredComment> {
  const comment = await lockComment(trx, id);
  if (comment === undefined || comment.deletedAt !== null) throw new ProblemError('NOT_FOUND');
  return comment;
}

/** Locks the file until the transaction ends, because deleting it deletes its comments. */
async function requireFile(trx: Writer, id: string | null): Promise<void> {
  if (id !== null && (await lockFile(trx, id)) === undefined) throw new ProblemError('NOT_FOUND');
}

async function addComment(
  trx: Writer,
  caller: Caller,
  about: { projectId: string; fileId: string | null },
  body: NewFileComment,
) {
  const parentId = body.parent?.id ?? null;
  await requireFile(trx, about.fileId);
  if (parentId !== null) {
    const parent = await lockComment(trx, parentId);
    if (parent?.projectId !== about.projectId || parent.fileId !== about.fileId) throw referenceNotFound('/parent/id');
    if (parent.parentId !== null) throw new ProblemError('PARENT_NOT_TOP_LEVEL', { errors: notTopLevel });
  }
  const id = newUuid();
  await insertComment(trx, {
    id,
    ...about,
    parentId,
    authorId: caller.userId,
    content: body.content === undefined || body.content === '' ? null : body.content,
    anchor: body.anchor ?? null,
    duration: body.duration ?? null,
    annotation: body.annotation == null ? null : JSON.stringify(body.annotation),
    createdAt: now(),
  });
  const attached = (body.attachments ?? []).map((attachment) => attachment.id);
  await requireFree(trx, about.projectId, caller.userId, attached);
  if (!(await attachToComment(trx, id, attached))) throw new ProblemError('ATTACHMENT_USED');
  return { data: { id } };
}

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
    await blankComment(trx, comment.id, now());
    return;
  }
  await deleteComment(trx, comment.id);
  if (comment.parentId === null) return;
  // A deleted parent is kept only while it has replies.
  const parent = await lockComment(trx, comment.parentId);
  if (parent?.deletedAt && !(await hasReplies(trx, parent.id))) await deleteComment(trx, parent.id);
}

function toResponse(comment: StoredComment, parts: CommentParts): CommentRecord {
  const { id, content, anchor, duration, annotation, resolvedAt, deletedAt, createdAt, updatedAt } = comment;
  return {
    id,
    content,
    author: deletedAt === null ? (parts.authors.get(comment.authorId) ?? null) : null,
    project: { id: comment.projectId },
    file: comment.fileId === null ? null : { id: comment.fileId },
    parent: comment.parentId === null ? null : { id: comment.parentId },
    anchor,
    duration,
    annotation: annotation === null ? null : JSON.parse(annotation),
    attachments: (parts.attachments.get(id) ?? []).map(({ id: attachmentId, name, mimeType, size }) => ({
      id: attachmentId,
      name,
      mimeType,
      size,
    })),
    reactions: parts.reactions.get(id) ?? [],
    replies: { count: parts.replies.get(id) ?? 0 },
    resolvedAt,
    deletedAt,
    createdAt,
    updatedAt,
  };
}
