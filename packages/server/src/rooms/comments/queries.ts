import { MAX_PINS, mentionedIn, PIN_EXCERPT } from '@review/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { preparedPages } from '../../db/cursor.ts';
import { fold } from '../../db/fold.ts';
import { locked } from '../../db/locked.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import { preparedTogether } from '../../db/prepared-together.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { users } from '../members/queries.ts';
import { liveFiles, memberships, RESTRICTED, type Viewer } from '../visibility.ts';

/** All but the text for the search, which is as long as the content. */
const COLUMNS = [
  'id',
  'project_id',
  'file_id',
  'parent_id',
  'author_id',
  'content',
  'anchor',
  'duration',
  'annotation',
  'resolved_at',
  'deleted_at',
  'created_at',
  'updated_at',
] as const satisfies (keyof Schema['comments'])[];

export type StoredComment = Pick<Selectable<Schema['comments']>, (typeof COLUMNS)[number]>;

/** A comment is visible to all who can see its file or project. */
export const findVisibleComment = prepared.lookUp((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  db
    .selectFrom('comments as comment')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'comment.project_id')
    .leftJoin(liveFiles(db).select(['id', 'allow_restricted']).as('file'), 'file.id', 'comment.file_id')
    .select(COLUMNS.map((column) => `comment.${column}` as const))
    .select(['seen.role', 'seen.deletes_at', 'comment.author_id as person_id'])
    .where('comment.id', '=', id)
    .where((eb) =>
      eb.or([
        eb('comment.file_id', 'is', null),
        eb('file.allow_restricted', '=', 1),
        eb.and([eb('seen.role', '!=', RESTRICTED), eb('file.id', 'is not', null)]),
      ]),
    ),
);

/** The scope of a list of comments. */
export type Thread = { projectId: string } | { fileId: string } | { parentId: string };

/** Sorts like the anchor, as text of equal length; comments without an anchor are last. */
const anchorKey = sql<string>`cast(100000000000 + coalesce(anchor, 99999999999) as text)`;

type Sort = 'createdAt' | 'anchor';
const SORT_KEYS = { createdAt: 'created_at', anchor: 'anchor_key' } as const;

export const listComments = preparedPages(
  'comments',
  (
    db,
    { projectId, fileId, parentId }: Params<{ projectId?: string; fileId?: string; parentId?: string }>,
    { resolved }: { resolved: boolean | undefined; sort: Sort },
  ) => {
    let query = db
      .selectFrom(
        db
          .selectFrom('comments')
          .select([...COLUMNS, anchorKey.as('anchor_key')])
          .as('comments'),
      )
      .selectAll();
    if (parentId !== undefined) query = query.where('parent_id', '=', parentId);
    else query = query.where('parent_id', 'is', null);
    if (fileId !== undefined) query = query.where('file_id', '=', fileId);
    if (projectId !== undefined) query = query.where('project_id', '=', projectId).where('file_id', 'is', null);
    if (resolved !== undefined) query = query.where('resolved_at', resolved ? 'is not' : 'is', null);
    return query;
  },
  ({ sort }) => SORT_KEYS[sort],
);

/** Half of it may be tokens of mentions, which names replace. */
const READ_EXCERPT = 2 * PIN_EXCERPT;

/** The comments on a file that have a place, newest first. */
export const listPins = prepared.all((db, { fileId, workspaceId }: Params<{ fileId: string; workspaceId: string }>) =>
  users(db, workspaceId)
    .innerJoin('comments as comment', 'comment.author_id', 'user.id')
    .select((eb) => [
      'comment.id',
      'comment.anchor',
      'comment.duration',
      'comment.resolved_at',
      eb('comment.annotation', 'is not', null).as('is_drawn'),
      sql<string | null>`substr(comment.content, 1, ${sql.lit(READ_EXCERPT)})`.as('beginning'),
    ])
    .where('comment.file_id', '=', fileId)
    .where('comment.parent_id', 'is', null)
    .where('comment.deleted_at', 'is', null)
    .where((eb) => eb.or([eb('comment.anchor', 'is not', null), eb('comment.annotation', 'is not', null)]))
    .orderBy('comment.created_at', 'desc')
    .orderBy('comment.id', 'desc')
    .limit(sql.lit(MAX_PINS)),
);

export type StoredPerson = { id: string; name: string; avatar_url: string | null };

export interface CommentParts {
  /** The authors, whether or not they have left the workspace. */
  authors: Map<string, StoredPerson>;
  /** Those whom comments mention. */
  mentioned: Map<string, StoredPerson>;
  attachments: Map<string, { id: string; name: string; mime_type: string | null; size: number }[]>;
  reactions: Map<string, { type: string; count: number; reacted: boolean }[]>;
  replies: Map<string, number>;
}

type Parts = Params<Viewer & { personIds: string[]; ids: string[] }>;

const findParts = preparedTogether({
  people: (db, { workspaceId, personIds }: Parts) =>
    users(db, workspaceId)
      .select(['user.id', 'person.workspace_id'])
      .where('user.id', ...anyOf(db, personIds)),
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

/** Loads the people, attachments, reactions and reply counts of comments. */
export async function findCommentParts(db: Database, viewer: Viewer, comments: StoredComment[]): Promise<CommentParts> {
  const ids = comments.map(({ id }) => id);
  if (ids.length === 0) {
    return {
      authors: new Map(),
      mentioned: new Map(),
      attachments: new Map(),
      reactions: new Map(),
      replies: new Map(),
    };
  }
  const personIds = [...new Set(comments.flatMap(({ author_id: id, content }) => [id, ...mentionedIn(content)]))];
  const { workspaceId, userId } = viewer;
  const { people, attachments, reactions, replies } = await findParts(db, { workspaceId, userId, personIds, ids });
  return {
    authors: new Map(people.map((person) => [person.id, person])),
    mentioned: new Map(people.filter((person) => person.workspace_id !== null).map((person) => [person.id, person])),
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

type Mentions = { workspaceId: string; projectId: string; fileId?: string | undefined; userIds: string[] };

/** Returns those users who belong to the workspace, with their role in the project, and whether the file is open to restricted reviewers. */
const findMentionedRows = prepared.all((db, { workspaceId, projectId, fileId, userIds }: Params<Mentions>) => {
  const mentioned = users(db, workspaceId)
    .leftJoin('project_members as member', (join) =>
      join.onRef('member.user_id', '=', 'user.id').on('member.project_id', '=', projectId),
    )
    .select(['user.id', 'member.role'])
    .where('person.workspace_id', '=', workspaceId)
    .where('user.id', ...anyOf(db, userIds));
  if (fileId === undefined) return mentioned.select(sql<number | null>`1`.as('is_open'));
  const mark = liveFiles(db).select('files.allow_restricted').where('files.id', '=', fileId);
  return mentioned.select(mark.as('is_open'));
});

/** Returns the names of those users who belong to the workspace, and whether each can see the comments on the file or project. */
export async function findMentioned(trx: Writer, mentions: Mentions) {
  if (mentions.userIds.length === 0) return [];
  const rows = await findMentionedRows(trx, mentions);
  return rows.map(({ id, name, role, is_open: isOpen }) => ({
    id,
    name,
    canSee: role !== null && (role !== RESTRICTED || isOpen === 1),
  }));
}

const insertRow = prepared.run((db, comment: Params<Insertable<Schema['comments']>>) =>
  db.insertInto('comments').values(comment),
);

/** `searched` is the content as it is read, with the names of the people it mentions. */
export const insertComment = (trx: Writer, comment: Insertable<Schema['comments']>, searched: string) =>
  insertRow(trx, { ...comment, folded_text: fold(searched) });

/** Returns the comment, locked until the transaction ends. */
export const lockComment = prepared.first((db, id: Param<string>) =>
  locked(db, db.selectFrom('comments').select(COLUMNS).where('id', '=', id)),
);

/** Locks attachments until the transaction ends, in one order, to prevent deadlocks between two comments. */
export const lockAttachments = prepared.run((db, ids: Param<string[]>) =>
  locked(
    db,
    db
      .selectFrom('uploads')
      .select('id')
      .where('id', ...anyOf(db, ids))
      .orderBy('id'),
  ),
);

export const hasReplies = prepared.exists((db, id: Param<string>) =>
  db.selectFrom('comments').select('id').where('parent_id', '=', id).limit(1),
);

type Changes = Partial<
  Pick<
    Selectable<Schema['comments']>,
    'content' | 'folded_text' | 'annotation' | 'resolved_at' | 'deleted_at' | 'updated_at'
  >
>;

export const updateComment = prepared.run((db, { id, ...changes }: Params<{ id: string } & Changes>) =>
  db.updateTable('comments').set(changes).where('id', '=', id),
);

/** `searched` is the content as it is read, with the names of the people it mentions. */
export const updateContent = (
  trx: Writer,
  change: Pick<StoredComment, 'id' | 'content' | 'updated_at'>,
  searched: string,
) => updateComment(trx, { ...change, folded_text: fold(searched) });

export const deleteReactions = prepared.run((db, commentId: Param<string>) =>
  db.deleteFrom('reactions').where('comment_id', '=', commentId),
);

export const deleteComment = prepared.run((db, id: Param<string>) => db.deleteFrom('comments').where('id', '=', id));

export const listCommentUploads = prepared(
  (db, commentId: Param<string>) => db.selectFrom('uploads').select('id').where('comment_id', '=', commentId),
  (rows) => rows.map((row) => row.id),
);
