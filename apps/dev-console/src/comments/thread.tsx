import type { CommentRecord } from '@review/contract';
import { memo, useState } from 'react';
import { Comment, type CommentContext } from './comment.tsx';
import { Replies } from './replies.tsx';

interface ThreadProps {
  comment: CommentRecord;
  context: CommentContext;
}

/** A comment with its replies, which start collapsed. Remembered, because the list around it is drawn at each step of scrolling and of playing. */
export const Thread = memo(function Thread({ comment, context }: ThreadProps) {
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
});
