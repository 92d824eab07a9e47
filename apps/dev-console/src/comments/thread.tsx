import type { CommentRecord } from '@review/contract';
import { useState } from 'react';
import { Comment, type CommentContext } from './comment.tsx';
import { Replies } from './replies.tsx';

/** A comment with its replies, which start collapsed. */
export function Thread({ comment, context }: { comment: CommentRecord; context: CommentContext }) {
  const [unfolded, setUnfolded] = useState(false);
  const { thread, onThread = (next: string | null) => setUnfolded(next !== null) } = context;
  const isOpen = context.onThread === undefined ? unfolded : thread === comment.id;
  return (
    <Comment
      comment={comment}
      context={context}
      thread={{
        isOpen,
        onUnfold: () => onThread(isOpen ? null : comment.id),
        replies: <Replies comment={comment} context={context} />,
      }}
    />
  );
}
