import type { RequestOf } from '@review/client';
import type { CommentRecord, contract } from '@review/contract';
import { type InfiniteData, infiniteQueryOptions, queryOptions, useMutation } from '@tanstack/react-query';
import { client, queryClient } from '../api.ts';
import { readAgain } from '../change.ts';

/** What is talked about: a project, a file, or another comment. */
type Topic = { project: string } | { file: string } | { comment: string };

const LISTS = ['comments', 'list'] as const;
const CHANGES = ['change of a comment'] as const;
const LOOK_AGAIN_MS = 15_000;

const listOf = (topic: Topic, body: RequestOf<typeof contract.comments.list>['body']) => {
  if ('project' in topic) return client.comments.list({ params: { id: topic.project }, body });
  if ('file' in topic) return client.comments.listOnFile({ params: { id: topic.file }, body });
  return client.comments.listReplies({ params: { id: topic.comment }, body });
};
type Page = Awaited<ReturnType<typeof listOf>>;

/** As in a chat: the newest page comes first, and each further one is older. */
export const commentsQuery = (topic: Topic, resolved?: boolean) =>
  infiniteQueryOptions({
    queryKey: [...LISTS, topic, { resolved }],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      listOf(topic, { ...(resolved !== undefined && { resolved }), ...(pageParam !== '' && { prev: pageParam }) }),
    getNextPageParam: ({ page }) => page.prev,
    select: ({ pages }) => pages.toReversed().flatMap(({ data }) => data),
    refetchInterval: LOOK_AGAIN_MS,
  });

export const commentQuery = (id: string) =>
  queryOptions({
    queryKey: ['comments', id],
    queryFn: async () => (await client.comments.get({ params: { id } })).data,
  });

type Lists = InfiniteData<Page>;

function foresee(id: string, change: (comment: CommentRecord) => CommentRecord): void {
  const changed = (page: Page): Page => ({
    ...page,
    data: page.data.map((comment) => (comment.id === id ? change(comment) : comment)),
  });
  queryClient.setQueriesData<Lists>(
    { queryKey: LISTS },
    (lists) => lists && { ...lists, pages: lists.pages.map(changed) },
  );
}

/** Shows a change to a comment before the service has made it, and takes it back when the service refuses. */
export function useCommentChange<Given = void>(
  id: string,
  make: (given: Given) => Promise<unknown>,
  expected: (comment: CommentRecord, given: Given) => CommentRecord,
) {
  return useMutation({
    mutationKey: CHANGES,
    // One after the other, so that taking a reaction back cannot overtake giving it.
    scope: { id: `comment ${id}` },
    mutationFn: make,
    onMutate: async (given) => {
      await queryClient.cancelQueries({ queryKey: LISTS });
      const before = queryClient.getQueriesData<Lists>({ queryKey: LISTS });
      foresee(id, (comment) => expected(comment, given));
      return before;
    },
    onError: (_error, _given, before) => {
      for (const [key, lists] of before ?? []) queryClient.setQueryData(key, lists);
    },
    // While another change is under way the service would answer without it.
    onSettled: () => (queryClient.isMutating({ mutationKey: CHANGES }) === 1 ? readAgain([['comments']]) : undefined),
  });
}
