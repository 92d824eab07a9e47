import type { RequestOf } from '@review/client';
import type { CommentRecord, contract } from '@review/contract';
import { type InfiniteData, infiniteQueryOptions, queryOptions, useMutation } from '@tanstack/react-query';
import { client, queryClient } from '../api.ts';
import { invalidate } from '../api-mutation.ts';

/** The target of a comment list. */
type Topic = { project: string } | { file: string } | { comment: string };

const LISTS = ['comments', 'list'] as const;
const CHANGES = ['change of a comment'] as const;
const POLL_INTERVAL_MS = 15_000;

const listOf = (topic: Topic, body: RequestOf<typeof contract.comments.list>['body']) => {
  if ('project' in topic) return client.comments.list({ params: { id: topic.project }, body });
  if ('file' in topic) return client.comments.listOnFile({ params: { id: topic.file }, body });
  return client.comments.listReplies({ params: { id: topic.comment }, body });
};
type Page = Awaited<ReturnType<typeof listOf>>;

/** Starts with the newest page; each further page is older. */
export const commentsQuery = (topic: Topic, resolved?: boolean) =>
  infiniteQueryOptions({
    queryKey: [...LISTS, topic, { resolved }],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      listOf(topic, { ...(resolved !== undefined && { resolved }), ...(pageParam !== '' && { prev: pageParam }) }),
    getNextPageParam: ({ page }) => page.prev,
    select: ({ pages }) => pages.toReversed().flatMap(({ data }) => data),
    refetchInterval: POLL_INTERVAL_MS,
  });

export const commentQuery = (id: string) =>
  queryOptions({
    queryKey: ['comments', id],
    queryFn: async () => (await client.comments.get({ params: { id } })).data,
  });

type Lists = InfiniteData<Page>;

function applyOptimisticUpdate(id: string, change: (comment: CommentRecord) => CommentRecord): void {
  const changed = (page: Page): Page => ({
    ...page,
    data: page.data.map((comment) => (comment.id === id ? change(comment) : comment)),
  });
  queryClient.setQueriesData<Lists>(
    { queryKey: LISTS },
    (lists) => lists && { ...lists, pages: lists.pages.map(changed) },
  );
}

/** A mutation of a comment with an optimistic update, which is rolled back on failure. */
export function useCommentMutation<Given = void>(
  id: string,
  make: (given: Given) => Promise<unknown>,
  expected: (comment: CommentRecord, given: Given) => CommentRecord,
) {
  return useMutation({
    mutationKey: CHANGES,
    // The scope runs the mutations of a comment in order: removing a reaction must not overtake adding it.
    scope: { id: `comment ${id}` },
    mutationFn: make,
    onMutate: async (given) => {
      await queryClient.cancelQueries({ queryKey: LISTS });
      const before = queryClient.getQueriesData<Lists>({ queryKey: LISTS });
      applyOptimisticUpdate(id, (comment) => expected(comment, given));
      return before;
    },
    onError: (_error, _given, before) => {
      for (const [key, lists] of before ?? []) queryClient.setQueryData(key, lists);
    },
    // While another mutation is pending, refetched data would lack its change.
    onSettled: () => (queryClient.isMutating({ mutationKey: CHANGES }) === 1 ? invalidate([['comments']]) : undefined),
  });
}
