import { Loader, Text } from '@mantine/core';
import { contract } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useProject } from '../projects/project-query.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { useChatScroll } from './chat-scroll.ts';
import type { CommentContext } from './comment.tsx';
import { Composer } from './composer.tsx';
import { usePosting } from './posting.ts';
import { commentQuery, useComments } from './queries.ts';
import { Thread } from './thread.tsx';
import classes from './thread-list.module.css';
import { WaitingComment } from './waiting-comment.tsx';

interface ThreadListProps {
  context: CommentContext;
  resolved?: boolean;
}

/** A conversation: oldest first, read from its end. */
export function ThreadList({ context, resolved }: ThreadListProps) {
  const { projectId, on, thread } = context;
  const { refusal } = useProject(projectId);
  const unreadable = refusal(contract.comments.list);
  const query = useComments(projectId, { topic: on, resolved, enabled: unreadable === null });
  const { waiting, post } = usePosting({ on, replyTo: null, audience: context }, query.data);
  const comments = query.data ?? [];
  const { list, top } = useChatScroll({
    first: comments[0]?.id,
    last: waiting.at(-1)?.number.toString() ?? comments.at(-1)?.id,
    hasOlder: query.hasNextPage,
    loadOlder: () => {
      if (!query.isFetchingNextPage) void query.fetchNextPage();
    },
  });
  const isThreadShown = thread === undefined || comments.some(({ id }) => id === thread);
  useEffect(() => {
    if (thread !== undefined && isThreadShown)
      document.getElementById(`comment-${thread}`)?.scrollIntoView({ block: 'nearest' });
  }, [thread, isThreadShown]);

  return (
    <section className={classes.conversation} aria-label="Comments">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard. */}
      <div ref={list} className={classes.list} role="log" aria-label="Comments, oldest first" tabIndex={0}>
        <div ref={top} className={classes.top}>
          {query.isFetchingNextPage && <Loader size="xs" aria-label="Loading older comments" />}
          {!query.hasNextPage && comments.length > 0 && (
            <Text size="xs" c="dimmed">
              The beginning of the conversation
            </Text>
          )}
        </div>
        {thread !== undefined && query.isSuccess && !isThreadShown && <Linked id={thread} context={context} />}
        <Loaded query={query} refusal={unreadable}>
          {() =>
            comments.length + waiting.length === 0 ? (
              <NoComments resolved={resolved} />
            ) : (
              comments.map((comment) => <Thread key={comment.id} comment={comment} context={context} />)
            )
          }
        </Loaded>
        {waiting.map((draft) => (
          <WaitingComment key={draft.number} draft={draft} />
        ))}
      </div>
      <Composer
        label="Comment"
        on={on}
        audience={context}
        anchor={null}
        anchorKind={null}
        refusal={refusal(contract.comments.create)}
        onSend={post}
      />
    </section>
  );
}

/** A comment that the URL names and that is not on a loaded page. */
function Linked({ id, context }: { id: string; context: CommentContext }) {
  const query = useQuery(commentQuery(id));
  return (
    <div className={classes.linked}>
      <Text size="xs" c="dimmed" mb={4}>
        From the link
      </Text>
      <Loaded query={query}>{(comment) => <Thread comment={comment} context={context} />}</Loaded>
    </div>
  );
}

function NoComments({ resolved }: { resolved: boolean | undefined }) {
  if (resolved !== undefined) {
    return (
      <Text size="sm" c="dimmed" ta="center" p="xl">
        {resolved ? 'Nothing has been resolved yet.' : 'Nothing is open: all is resolved.'}
      </Text>
    );
  }
  return (
    <EmptyState icon="comment" title="No comments yet">
      Write what should change or what is good. Others reply, react, and resolve it when it is done.
    </EmptyState>
  );
}
