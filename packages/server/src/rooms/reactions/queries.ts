import type { Insertable } from 'kysely';
import type { Database, Schema, Writer } from '../../db/schema.ts';

/** Adds the reaction. Returns false if it exists. */
export async function insertReaction(trx: Writer, reaction: Insertable<Schema['reactions']>): Promise<boolean> {
  const result = await trx
    .insertInto('reactions')
    .values(reaction)
    .onConflict((conflict) => conflict.columns(['comment_id', 'user_id', 'type']).doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function deleteReaction(trx: Writer, commentId: string, userId: string, type: string): Promise<boolean> {
  const result = await trx
    .deleteFrom('reactions')
    .where('comment_id', '=', commentId)
    .where('user_id', '=', userId)
    .where('type', '=', type)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Returns the reactions to a comment with their users, oldest first. */
export async function listReactions(db: Database, workspaceId: string, commentId: string) {
  return db
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
    .orderBy('user.id')
    .execute();
}
