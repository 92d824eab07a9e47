import { type Contract, reactionToDelete } from '@review/contract';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { ProblemError } from '../../request/problem.ts';
import { lockComment, type StoredComment } from '../comments/queries.ts';
import type { Handlers } from '../handler.ts';
import { deleteReaction, insertReaction, listReactions } from './queries.ts';

export const reactions = ({ db }: Deps): Handlers<Contract['reactions']> => ({
  create: ({ caller, subject: comment, body, write }) =>
    write(async (trx) => {
      // The comment may have been deleted since the subject was loaded.
      const current = await lockComment(trx, comment.id);
      if (current === undefined || current.deleted_at !== null) throw new ProblemError('NOT_FOUND');
      const reaction = { comment_id: comment.id, user_id: caller.userId, type: body.type, created_at: now() };
      if (!(await insertReaction(trx, reaction))) throw new ProblemError('REACTION_EXISTS');
      return { answer: undefined, events: [eventOf('reaction.added', comment, body.type)] };
    }),

  delete: ({ caller, subject: comment, body, query, write }) =>
    write(async (trx) => {
      const type = reactionToDelete({ body, query });
      if (type === undefined) throw new ProblemError('INVALID_REQUEST', { errors: TYPE_REQUIRED });
      if (!(await deleteReaction(trx, { commentId: comment.id, userId: caller.userId, type })))
        throw new ProblemError('NOT_FOUND');
      return { answer: undefined, events: [eventOf('reaction.removed', comment, type)] };
    }),

  async list({ caller, subject: comment }) {
    const held = await listReactions(db, { workspaceId: caller.workspaceId, commentId: comment.id });
    const byType = Map.groupBy(held, ({ type }) => type);
    return {
      data: [...byType].map(([type, holders]) => ({
        type,
        count: holders.length,
        users: holders.map(({ id, name, avatar_url: avatarUrl }) => ({ id, name, avatarUrl })),
      })),
    };
  },
});

/** The subject of a reaction's events is its comment, because a reaction has no id. */
const eventOf = <T extends 'reaction.added' | 'reaction.removed'>(
  type: T,
  comment: Pick<StoredComment, 'id' | 'project_id' | 'file_id'>,
  emoji: string,
) => ({
  type,
  projectId: comment.project_id,
  subjectId: comment.id,
  data: { file: comment.file_id === null ? null : { id: comment.file_id }, type: emoji },
});

const TYPE_REQUIRED = [{ pointer: '/type', code: 'REQUIRED', message: 'This field is required.' }];
