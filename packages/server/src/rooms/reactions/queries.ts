import type { Insertable } from 'kysely';
import { type Params, prepared } from '../../db/prepared.ts';
import type { Schema } from '../../db/schema.ts';

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
    db
      .selectFrom('reactions as reaction')
      .innerJoin('users as user', 'user.id', 'reaction.user_id')
      .leftJoin('workspace_members as person', (join) =>
        join.onRef('person.user_id', '=', 'user.id').on('person.workspace_id', '=', workspaceId),
      )
      .select((eb) => [
        'reaction.type',
        'user.id',
        eb.fn.coalesce('person.display_name', 'user.name').as('name'),
        eb.fn.coalesce('person.avatar_url', 'user.avatar_url').as('avatar_url'),
      ])
      .where('reaction.comment_id', '=', commentId)
      .orderBy('reaction.created_at')
      .orderBy('user.id'),
);
