import { type Insertable, type Selectable, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type CursorPage, type PageRequest, takePage } from '../../db/cursor.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { isRestricted, type Membership, memberships, type Viewer } from '../visibility.ts';

export type StoredComment = Selectable<Schema['comments']>;

type VisibleComment = StoredComment & Membership & { person_id: string };

/** A comment is visible to all who can see its file or project. */
export async function findVisibleComment(
  db: Database,
  viewer: Viewer,
  id: string,
): Promise<VisibleComment | undefined> {
  const comment = await db
    .selectFrom('comments as comment')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'comment.project_id')
    .leftJoin('files as file', 'file.id', 'comment.file_id')
    .selectAll('comment')
    .select(['seen.role', 'seen.deletes_at', 'comment.author_id as person_id'])
    .select('file.allow_restricted as file_allowed')
    .where('comment.id', '=', id)
    .executeTakeFirst();
  if (comment === undefined) return undefined;
  const isHidden = isRestricted(comment.role) && comment.file_id !== null && comment.file_allowed !== 1;
  return isHidden ? undefined : comment;
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
  return takePage(query, { sort: 'created_at', id: 'id' }, (row) => [row.created_at, row.id], page);
}

export interface CommentParts {
  authors: Map<string, { id: string; name: string; avatar_url: string | null }>;
  attachments: Map<string, { id: string; name: string; mime_type: string | null; size: number }[]>;
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
      eb.fn.coalesce('person.avatar_url', 'user.avatar_url').as('avatar_url'),
    ])
    .where('user.id', 'in', anyOf(comments.map((comment) => comment.author_id)))
    .execute();
  const attachments = await db
    .selectFrom('uploads')
    .select(['id', 'name', 'mime_type', 'size', sql<string>`comment_id`.as('comment_id')])
    .where('comment_id', 'in', anyOf(ids))
    .orderBy('comment_position')
    .execute();
  const reactions = await db
    .selectFrom('reactions')
    .select((eb) => [
      'comment_id',
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
    .select((eb) => [sql<string>`parent_id`.as('parent_id'), eb.fn.countAll<number>().as('count')])
    .where('parent_id', 'in', anyOf(ids))
    .groupBy('parent_id')
    .execute();
  return {
    authors: new Map(authors.map((author) => [author.id, author])),
    attachments: Map.groupBy(attachments, (attachment) => attachment.comment_id),
    reactions: new Map(
      [...Map.groupBy(reactions, (reaction) => reaction.comment_id)].map(([id, groups]) => [
        id,
        groups.map(({ type, count, reacted }) => ({ type, count, reacted: reacted === 1 })),
      ]),
    ),
    replies: new Map(replies.map((reply) => [reply.parent_id, reply.count])),
  };
}

export async function insertComment(trx: Writer, comment: Insertable<Schema['comments']>): Promise<void> {
  await trx.insertInto('comments').values(comment).execute();
}

/** Returns the comment, locked until the transaction ends. The update locks the row on both databases. */
export async function lockComment(trx: Writer, id: string): Promise<StoredComment | undefined> {
  return trx
    .updateTable('comments')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
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
