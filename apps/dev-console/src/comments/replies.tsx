import { Button, Stack } from '@mantine/core';
import { type CommentRecord, contract } from '@review/contract';
import { useProject } from '../projects/project-query.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Comment, type CommentContext } from './comment.tsx';
import { Composer } from './composer.tsx';
import { usePosting } from './posting.ts';
import { useComments } from './queries.ts';
import classes from './replies.module.css';
import { WaitingComment } from './waiting-comment.tsx';

/** The replies to a comment, and an input for a new one. */
export function Replies({ comment, context }: { comment: CommentRecord; context: CommentContext }) {
  const { refusal } = useProject(context.projectId);
  const query = useComments(context.projectId, { topic: { comment: comment.id } });
  const { waiting, post } = usePosting({ on: context.on, replyTo: comment.id, audience: context }, query.data);
  return (
    <Stack gap="xs" className={classes.replies} role="group" aria-label="Replies">
      {query.hasNextPage && (
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Show older replies
        </Button>
      )}
      <Loaded query={query}>
        {(replies) => replies.map((reply) => <Comment key={reply.id} comment={reply} context={context} />)}
      </Loaded>
      {waiting.map((draft) => (
        <WaitingComment key={draft.number} draft={draft} />
      ))}
      <Composer
        label="Reply"
        on={context.on}
        audience={context}
        replyTo={comment.id}
        anchor={null}
        anchorKind={null}
        refusal={refusal(contract.comments.create)}
        onSend={post}
      />
    </Stack>
  );
}
