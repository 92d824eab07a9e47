import { Annotation, mentionedIn, type Shape, withNames } from '@review/contract';
import { sql } from 'kysely';
import { anyOf } from '../../../db/any-of.ts';
import { parseJson } from '../../../db/json.ts';
import { type Param, type Params, prepared } from '../../../db/prepared.ts';
import type { Database } from '../../../db/schema.ts';
import { findWorkspacePeople, users } from '../../members/queries.ts';
import type { Comments } from './exported.ts';

const BATCH = 200;

/** The ids of the top-level comments on a file, in the order of their anchors; those without one last. */
const listIds = prepared(
  (db, fileId: Param<string>) =>
    db
      .selectFrom('comments')
      .select('id')
      .where('file_id', '=', fileId)
      .where('parent_id', 'is', null)
      .orderBy(sql`case when anchor is null then 1 else 0 end`)
      .orderBy('anchor')
      .orderBy('created_at')
      .orderBy('id'),
  (rows) => rows.map(({ id }) => id),
);

type Batch = Params<{ workspaceId: string; ids: string[] }>;

const authored = (db: Database, workspaceId: Param<string>) =>
  users(db, workspaceId)
    .innerJoin('comments as comment', 'comment.author_id', 'user.id')
    .select(['comment.id', 'comment.parent_id', 'comment.content', 'comment.created_at']);

const findComments = prepared(
  (db, { workspaceId, ids }: Batch) =>
    authored(db, workspaceId)
      .select(['comment.anchor', 'comment.duration', 'comment.resolved_at', 'comment.deleted_at'])
      .select((eb) => eb('comment.annotation', 'is not', null).as('is_drawn'))
      .where('comment.id', ...anyOf(db, ids)),
  (rows) => new Map(rows.map((row) => [row.id, row])),
);

const findReplies = prepared(
  (db, { workspaceId, ids }: Batch) =>
    authored(db, workspaceId)
      .where('comment.parent_id', ...anyOf(db, ids))
      .orderBy('comment.created_at')
      .orderBy('comment.id'),
  (rows) => Map.groupBy(rows, (row) => row.parent_id),
);

const findDrawing = prepared.first((db, id: Param<string>) =>
  db.selectFrom('comments').select('annotation').where('id', '=', id),
);

/** Reads the shapes of a comment; none if they are of before drawings had a version. They are large, and so not in the batches. */
export async function drawnShapes(db: Database, commentId: string): Promise<readonly Shape[]> {
  const row = await findDrawing(db, commentId);
  const parsed = Annotation.safeParse(parseJson(row?.annotation ?? null));
  return parsed.success ? parsed.data.shapes : [];
}

/** Reads the comments on a file in batches. A deleted comment is left out, or has no author and no text if it has replies. */
export async function* exportedComments(db: Database, workspaceId: string, fileId: string): Comments {
  const all = await listIds(db, fileId);
  for (let start = 0; start < all.length; start += BATCH) {
    const ids = all.slice(start, start + BATCH);
    const comments = await findComments(db, { workspaceId, ids });
    const replies = await findReplies(db, { workspaceId, ids });
    const contents = [comments.values(), ...replies.values()].flatMap((rows) =>
      Array.from(rows, ({ content }) => content),
    );
    const userIds = [...new Set(contents.flatMap(mentionedIn))];
    const people = await findWorkspacePeople(db, { workspaceId, userIds });
    const textOf = (content: string | null) => withNames(content ?? '', people);
    for (const id of ids) {
      const comment = comments.get(id);
      // Deleted since the ids were read.
      if (comment === undefined) continue;
      yield {
        id,
        author: comment.deleted_at === null ? comment.name : '',
        text: textOf(comment.content),
        anchor: comment.anchor,
        duration: comment.duration,
        drawn: Boolean(comment.is_drawn),
        resolvedAt: comment.resolved_at,
        createdAt: comment.created_at,
        replies: (replies.get(id) ?? []).map(({ name, content, created_at: createdAt }) => ({
          author: name,
          text: textOf(content),
          createdAt,
        })),
      };
    }
  }
}
