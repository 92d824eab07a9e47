import type { RequestOf } from '@review/client';
import type { CommentRecord, contract, FileRecord } from '@review/contract';
import {
  type InfiniteData,
  infiniteQueryOptions,
  queryOptions,
  useInfiniteQuery,
  useMutation,
} from '@tanstack/react-query';
import { client, queryClient } from '../api.ts';
import { changeOf, invalidate } from '../api-mutation.ts';
import { usePollInterval } from '../live/use-live.ts';

/** The target of a comment list. */
type Topic = { project: string } | { file: string } | { comment: string };

const LISTS = ['comments', 'list'] as const;
/** The mutations that a refetch must not overtake. */
export const CHANGES = changeOf(['comments']);
const POLL_INTERVAL_MS = 15_000;

const listOf = (topic: Topic, body: RequestOf<typeof contract.comments.list>['body']) => {
  if ('project' in topic) return client.comments.list({ params: { id: topic.project }, body });
  if ('file' in topic) return client.comments.listOnFile({ params: { id: topic.file }, body });
  return client.comments.listReplies({ params: { id: topic.comment }, body });
};
type Page = Awaited<ReturnType<typeof listOf>>;

/** Starts with the newest page; each further page is older. */
const commentsQuery = (topic: Topic, resolved?: boolean) =>
  infiniteQueryOptions({
    queryKey: [...LISTS, ...('comment' in topic ? ['replies'] : []), topic, { resolved }],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      listOf(topic, { ...(resolved !== undefined && { resolved }), ...(pageParam !== '' && { prev: pageParam }) }),
    getNextPageParam: ({ page }) => page.prev,
    select: ({ pages }) => pages.toReversed().flatMap(({ data }) => data),
  });

/** A list of comments, kept current. */
export function useComments(
  projectId: string,
  on: { topic: Topic; resolved?: boolean | undefined; enabled?: boolean },
) {
  const { topic, resolved, enabled = true } = on;
  const refetchInterval = usePollInterval(projectId, POLL_INTERVAL_MS);
  return useInfiniteQuery({ ...commentsQuery(topic, resolved), enabled, refetchInterval });
}

/** Ten pages are kept: the others are loaded again when they are scrolled to, and a change refetches no more than these. */
const KEPT_PAGES = 10;

const fileCommentsQuery = (fileId: string, sort: 'time' | 'date', resolved: boolean | undefined) =>
  infiniteQueryOptions({
    queryKey: [...LISTS, { file: fileId }, { resolved, sort }],
    initialPageParam: {},
    queryFn: ({ pageParam, signal }) =>
      client.comments.listOnFile(
        {
          params: { id: fileId },
          body: {
            sort: sort === 'time' ? { type: 'anchor', direction: 'asc' } : { type: 'createdAt', direction: 'desc' },
            ...(resolved !== undefined && { resolved }),
            ...pageParam,
          },
        },
        { signal },
      ),
    maxPages: KEPT_PAGES,
    getNextPageParam: ({ page: { next } }): { next: string } | null => (next === null ? null : { next }),
    getPreviousPageParam: ({ page: { prev } }): { prev: string } | null => (prev === null ? null : { prev }),
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  });

/** The comments on a file in an order, kept current. */
export function useFileComments(
  { id, project }: Pick<FileRecord, 'id' | 'project'>,
  { sort, resolved, enabled }: { sort: 'time' | 'date'; resolved: boolean | undefined; enabled: boolean },
) {
  const refetchInterval = usePollInterval(project.id, POLL_INTERVAL_MS);
  return useInfiniteQuery({ ...fileCommentsQuery(id, sort, resolved), enabled, refetchInterval });
}

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
