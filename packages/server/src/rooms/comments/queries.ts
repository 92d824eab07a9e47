import type { ProjectRole } from '@review/contract';
import { type Selectable, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type CursorPage, type PageRequest, takePage } from '../../db/cursor.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { isRestricted, memberships, type Viewer } from '../visibility.ts';

export interface StoredComment {
  id: string;
  projectId: string;
  fileId: string | null;
  parentId: string | null;
  authorId: string;
  content: string | null;
  anchor: number | null;
  duration: number | null;
  annotation: string | null;
  resolvedAt: string | null;
  deletedAt: string | null;
  createdAt: string;
  updatedAt: string;
}

const record = (row: Selectable<Schema['comments']>): StoredComment => ({
  id: row.id,
  projectId: row.project_id,
  fileId: row.file_id,
  parentId: row.parent_id,
  authorId: row.author_id,
  content: row.content,
  anchor: row.anchor,
  duration: row.duration,
  annotation: row.annotation,
  resolvedAt: row.resolved_at,
  deletedAt: row.deleted_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

type VisibleComment = StoredComment & { role: ProjectRole; deletesAt: string | null; personId: string };

/** A comment is visible to all who can see its file or project. */
export async function findVisibleComment(
  db: Database,
  viewer: Viewer,
  id: string,
): Promise<VisibleComment | undefined> {
  const row = await db
    .selectFrom('comments as comment')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.projectId', 'comment.project_id')
    .leftJoin('files as file', 'file.id', 'comment.file_id')
    .selectAll('comment')
    .select(['seen.role', 'seen.deletesAt', 'file.allow_restricted as fileAllowed'])
    .where('comment.id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const hidden = isRestricted(row.role) && row.file_id !== null && row.fileAllowed !== 1;
  return hidden ? undefined : { ...record(row), role: row.role, deletesAt: row.deletesAt, personId: row.author_id };
}

/** The scope of a list of comments. */
export type Thread = { projectId: string } | { fileId: string } | { parentId: string };

export async function listComments(
  db: Database,
  thread: Thread,
  resolved: boolean | undefined,
  page: PageRequest,
): Promise<CursorPage<StoredComment>> {
  let query = db.selectFrom('comments').selectAll();
  if ('parentId' in thread) query = query.where('parent_id', '=', thread.parentId);
  else {
    query = query.where('parent_id', 'is', null);
    if ('fileId' in thread) query = query.where('file_id', '=', thread.fileId);
    else query = query.where('project_id', '=', thread.projectId).where('file_id', 'is', null);
  }
  if (resolved !== undefined) query = query.where('resolved_at', resolved ? 'is not' : 'is', null);
  const rows = await takePage(query, { sort: 'created_at', id: 'id' }, (row) => [row.created_at, row.id], page);
  return { ...rows, items: rows.items.map(record) };
}

export interface CommentParts {
  authors: Map<string, { id: string; name: string; avatarUrl: string | null }>;
  attachments: Map<string, { id: string; name: string; mimeType: string | null; size: number }[]>;
  reactions: Map<string, { type: string; count: number; reacted: boolean }[]>;
  replies: Map<string, number>;
}

/** Loads authors, attachments, reactions and reply counts of comments, with one statement per kind. */
export async function findCommentParts(db: Database, viewer: Viewer, comments: StoredComment[]): Promise<CommentParts> {
  const ids = comments.map(({ id }) => id);
  if (ids.length === 0) {
    return { authors: new Map(), attachments: new Map(), reactions: new Map(), replies: new Map() };
  }
  const authors = await db
    .selectFrom('users as user')
    .leftJoin('workspace_members as person', (join) =>
      join.onRef('person.user_id', '=', 'user.id').on('person.workspace_id', '=', viewer.workspaceId),
    )
    .select((eb) => [
      'user.id',
      eb.fn.coalesce('person.display_name', 'user.name').as('name'),
      eb.fn.coalesce('person.avatar_url', 'user.avatar_url').as('avatarUrl'),
    ])
    .where('user.id', 'in', anyOf(comments.map(({ authorId }) => authorId)))
    .execute();
  const attachments = await db
    .selectFrom('uploads')
    .select(['id', 'name', 'mime_type as mimeType', 'size', sql<string>`comment_id`.as('commentId')])
    .where('comment_id', 'in', anyOf(ids))
    .orderBy('comment_position')
    .execute();
  const reactions = await db
    .selectFrom('reactions')
    .select((eb) => [
      'comment_id as commentId',
      'type',
      eb.fn.countAll<number>().as('count'),
      sql<number>`max(case when user_id = ${viewer.userId} then 1 else 0 end)`.as('reacted'),
    ])
    .where('comment_id', 'in', anyOf(ids))
    .groupBy(['comment_id', 'type'])
    .orderBy((eb) => eb.fn.min('created_at'))
    .orderBy('type')
    .execute();
  const replies = await db
    .selectFrom('comments')
    .select((eb) => [sql<string>`parent_id`.as('parentId'), eb.fn.countAll<number>().as('count')])
    .where('parent_id', 'in', anyOf(ids))
    .groupBy('parent_id')
    .execute();
  return {
    authors: new Map(authors.map((author) => [author.id, author])),
    attachments: Map.groupBy(attachments, ({ commentId }) => commentId),
    reactions: new Map(
      [...Map.groupBy(reactions, ({ commentId }) => commentId)].map(([id, groups]) => [
        id,
        groups.map(({ type, count, reacted }) => ({ type, count, reacted: reacted === 1 })),
      ]),
    ),
    replies: new Map(replies.map(({ parentId, count }) => [parentId, count])),
  };
}

type NewCommentRow = Omit<StoredComment, 'resolvedAt' | 'deletedAt' | 'updatedAt'>;

export async function insertComment(trx: Writer, comment: NewCommentRow): Promise<void> {
  await trx
    .insertInto('comments')
    .values({
      id: comment.id,
      project_id: comment.projectId,
      file_id: comment.fileId,
      parent_id: comment.parentId,
      author_id: comment.authorId,
      content: comment.content,
      anchor: comment.anchor,
      duration: comment.duration,
      annotation: comment.annotation,
      created_at: comment.createdAt,
      updated_at: comment.createdAt,
    })
    .execute();
}

/** Returns the comment, locked until the transaction ends. The update locks the row on both databases. */
export async function lockComment(trx: Writer, id: string): Promise<StoredComment | undefined> {
  const row = await trx
    .updateTable('comments')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && record(row);
}

/** Locks attachments until the transaction ends, in one order, to prevent deadlocks between two comments. */
export async function lockAttachments(trx: Writer, ids: string[]): Promise<void> {
  for (const id of ids.toSorted()) {
    await trx
      .updateTable('uploads')
      .set((eb) => ({ id: eb.ref('id') }))
      .where('id', '=', id)
      .execute();
  }
}

export async function hasReplies(db: Database, id: string): Promise<boolean> {
  const row = await db.selectFrom('comments').select('id').where('parent_id', '=', id).limit(1).executeTakeFirst();
  return row !== undefined;
}

export async function updateContent(trx: Writer, id: string, content: string, at: string): Promise<void> {
  await trx.updateTable('comments').set({ content, updated_at: at }).where('id', '=', id).execute();
}

export async function setResolved(trx: Writer, id: string, resolvedAt: string | null): Promise<void> {
  await trx.updateTable('comments').set({ resolved_at: resolvedAt }).where('id', '=', id).execute();
}

/** Clears the content of a deleted comment that has replies. */
export async function blankComment(trx: Writer, id: string, at: string): Promise<void> {
  await trx
    .updateTable('comments')
    .set({ content: null, annotation: null, deleted_at: at, updated_at: at })
    .where('id', '=', id)
    .execute();
  await trx.deleteFrom('reactions').where('comment_id', '=', id).execute();
}

export async function deleteComment(trx: Writer, id: string): Promise<void> {
  await trx.deleteFrom('comments').where('id', '=', id).execute();
}

export async function listCommentUploads(db: Database, commentId: string): Promise<string[]> {
  const rows = await db.selectFrom('uploads').select('id').where('comment_id', '=', commentId).execute();
  return rows.map((row) => row.id);
}
