import { type Insertable, type Selectable, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { preparedPages } from '../../db/cursor.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import { preparedTogether } from '../../db/prepared-together.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { memberships, RESTRICTED, type Viewer } from '../visibility.ts';

export type StoredComment = Selectable<Schema['comments']>;

/** A comment is visible to all who can see its file or project. */
export const findVisibleComment = prepared.first((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  db
    .selectFrom('comments as comment')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'comment.project_id')
    .leftJoin('files as file', 'file.id', 'comment.file_id')
    .selectAll('comment')
    .select(['seen.role', 'seen.deletes_at', 'comment.author_id as person_id'])
    .where('comment.id', '=', id)
    .where((eb) =>
      eb.or([
        eb('seen.role', '!=', RESTRICTED),
        eb('comment.file_id', 'is', null),
        eb('file.allow_restricted', '=', 1),
      ]),
    ),
);

/** The scope of a list of comments. */
export type Thread = { projectId: string } | { fileId: string } | { parentId: string };

export const listComments = preparedPages(
  'comments',
  (
    db,
    { projectId, fileId, parentId }: Params<{ projectId?: string; fileId?: string; parentId?: string }>,
    { resolved }: { resolved: boolean | undefined },
  ) => {
    let query = db.selectFrom('comments').selectAll();
    if (parentId !== undefined) query = query.where('parent_id', '=', parentId);
    else query = query.where('parent_id', 'is', null);
    if (fileId !== undefined) query = query.where('file_id', '=', fileId);
    if (projectId !== undefined) query = query.where('project_id', '=', projectId).where('file_id', 'is', null);
    if (resolved !== undefined) query = query.where('resolved_at', resolved ? 'is not' : 'is', null);
    return query;
  },
  () => 'created_at',
);

export interface CommentParts {
  authors: Map<string, { id: string; name: string; avatar_url: string | null }>;
  attachments: Map<string, { id: string; name: string; mime_type: string | null; size: number }[]>;
  reactions: Map<string, { type: string; count: number; reacted: boolean }[]>;
  replies: Map<string, number>;
}

type Parts = Params<Viewer & { authorIds: string[]; ids: string[] }>;

const findParts = preparedTogether({
  authors: (db, { workspaceId, authorIds }: Parts) =>
    db
      .selectFrom('users as user')
      .leftJoin('workspace_members as person', (join) =>
        join.onRef('person.user_id', '=', 'user.id').on('person.workspace_id', '=', workspaceId),
      )
      .select((eb) => [
        'user.id',
        eb.fn.coalesce('person.display_name', 'user.name').as('name'),
        eb.fn.coalesce('person.avatar_url', 'user.avatar_url').as('avatar_url'),
      ])
      .where('user.id', ...anyOf(db, authorIds)),
  attachments: (db, { ids }: Parts) =>
    db
      .selectFrom('uploads')
      .select(['id', 'name', 'mime_type', 'size', sql<string>`comment_id`.as('comment_id')])
      .where('comment_id', ...anyOf(db, ids))
      .orderBy('comment_position'),
  reactions: (db, { userId, ids }: Parts) =>
    db
      .selectFrom('reactions')
      .select((eb) => [
        'comment_id',
        'type',
        eb.fn.countAll<number>().as('count'),
        sql<number>`max(case when user_id = ${userId} then 1 else 0 end)`.as('reacted'),
      ])
      .where('comment_id', ...anyOf(db, ids))
      .groupBy(['comment_id', 'type'])
      .orderBy((eb) => eb.fn.min('created_at'))
      .orderBy('type'),
  replies: (db, { ids }: Parts) =>
    db
      .selectFrom('comments')
      .select((eb) => [sql<string>`parent_id`.as('parent_id'), eb.fn.countAll<number>().as('count')])
      .where('parent_id', ...anyOf(db, ids))
      .groupBy('parent_id'),
});

/** Loads authors, attachments, reactions and reply counts of comments. */
export async function findCommentParts(db: Database, viewer: Viewer, comments: StoredComment[]): Promise<CommentParts> {
  const ids = comments.map(({ id }) => id);
  if (ids.length === 0) {
    return { authors: new Map(), attachments: new Map(), reactions: new Map(), replies: new Map() };
  }
  const authorIds = [...new Set(comments.map((comment) => comment.author_id))];
  const { workspaceId, userId } = viewer;
  const { authors, attachments, reactions, replies } = await findParts(db, { workspaceId, userId, authorIds, ids });
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

export const insertComment = prepared.run((db, comment: Params<Insertable<Schema['comments']>>) =>
  db.insertInto('comments').values(comment),
);

/** Returns the comment, locked until the transaction ends. The update locks the row on both databases. */
export const lockComment = prepared.first((db, id: Param<string>) =>
  db
    .updateTable('comments')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .returningAll(),
);

const lockAttachment = prepared.run((db, id: Param<string>) =>
  db
    .updateTable('uploads')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id),
);

/** Locks attachments until the transaction ends, in one order, to prevent deadlocks between two comments. */
export async function lockAttachments(trx: Writer, ids: string[]): Promise<void> {
  for (const id of ids.toSorted()) await lockAttachment(trx, id);
}

export const hasReplies = prepared.exists((db, id: Param<string>) =>
  db.selectFrom('comments').select('id').where('parent_id', '=', id).limit(1),
);

type Changes = Partial<Pick<StoredComment, 'content' | 'annotation' | 'resolved_at' | 'deleted_at' | 'updated_at'>>;

export const updateComment = prepared.run((db, { id, ...changes }: Params<{ id: string } & Changes>) =>
  db.updateTable('comments').set(changes).where('id', '=', id),
);

export const deleteReactions = prepared.run((db, commentId: Param<string>) =>
  db.deleteFrom('reactions').where('comment_id', '=', commentId),
);

export const deleteComment = prepared.run((db, id: Param<string>) => db.deleteFrom('comments').where('id', '=', id));

export const listCommentUploads = prepared(
  (db, commentId: Param<string>) => db.selectFrom('uploads').select('id').where('comment_id', '=', commentId),
  (rows) => rows.map((row) => row.id),
);
