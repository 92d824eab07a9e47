import type { Insertable } from 'kysely';
import { type Params, prepared } from '../../db/prepared.ts';
import type { Schema } from '../../db/schema.ts';
import { users } from '../members/queries.ts';

/** Adds the reaction. Returns false if it exists. */
export const insertReaction = prepared.changed((db, reaction: Params<Insertable<Schema['reactions']>>) =>
  db
    .insertInto('reactions')
    .values(reaction)
    .onConflict((conflict) => conflict.columns(['comment_id', 'user_id', 'type']).doNothing()),
);

export const deleteReaction = prepared.changed(
  (db, { commentId, userId, type }: Params<{ commentId: string; userId: string; type: string }>) =>
    db
      .deleteFrom('reactions')
      .where('comment_id', '=', commentId)
      .where('user_id', '=', userId)
      .where('type', '=', type),
);

/** Returns the reactions to a comment with their users, oldest first. */
export const listReactions = prepared.all(
  (db, { workspaceId, commentId }: Params<{ workspaceId: string; commentId: string }>) =>
    users(db, workspaceId)
      .innerJoin('reactions as reaction', 'reaction.user_id', 'user.id')
      .select(['reaction.type', 'user.id'])
      .where('reaction.comment_id', '=', commentId)
      .orderBy('reaction.created_at')
      .orderBy('user.id'),
);
