import { contract, type Project, type Route } from '@review/contract';
import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { client } from '../api.ts';
import { useRefusal } from '../session/access.ts';

interface ProjectFilters {
  keyword?: string | undefined;
  sort?: 'name' | 'createdAt' | undefined;
}

export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ['projects', id],
    queryFn: async ({ signal }) => (await client.projects.get({ params: { id } }, { signal })).data,
  });

/** The projects with a keyword, page by page. */
export const projectsQuery = ({ keyword = '', sort }: ProjectFilters) =>
  infiniteQueryOptions({
    queryKey: ['projects', 'list', { keyword, sort }],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      client.projects.list(
        {
          body: {
            ...(keyword !== '' && { keyword }),
            sort: { type: sort ?? 'updatedAt', direction: sort === 'name' ? 'asc' : 'desc' },
            ...(pageParam !== '' && { next: pageParam }),
          },
        },
        { signal },
      ),
    getNextPageParam: ({ page }) => page.next,
  });

/** The projects that were changed last. */
export const recentProjectsQuery = queryOptions({
  queryKey: ['projects', 'recent'],
  queryFn: async ({ signal }) => (await client.projects.list({}, { signal })).data,
});

/** Returns why the caller may not call the route on this project, or null. */
export type ProjectRefusal = (route: Pick<Route, 'metadata' | 'method'>) => string | null;

const isRead = ({ method }: { method: string }) => method === 'GET' || method === 'QUERY';

/** The project, if the key may read it, and the access check for its routes. */
export function useProject(id: string): {
  project: Project | undefined;
  /** Whether loading has ended. Until then the role is unknown, so lists restricted by role must not be queried. */
  isSettled: boolean;
  refusal: ProjectRefusal;
} {
  const refusal = useRefusal();
  const { data: project, isLoading } = useQuery({
    ...projectQuery(id),
    enabled: id !== '' && refusal(contract.projects.get) === null,
  });
  const role = project?.role;
  const isDeleting = project?.deletesAt != null;
  return {
    project,
    isSettled: !isLoading,
    refusal: useCallback(
      (route) => {
        const forbidden = refusal(route, role);
        if (forbidden !== null) return forbidden;
        const isFrozen = isDeleting && !isRead(route) && !route.metadata.whileDeleting;
        if (!isFrozen) return null;
        const canUndo = refusal(contract.projects.cancelDelete, role) === null;
        return canUndo
          ? 'This project is scheduled for deletion. Undo the deletion in its settings first.'
          : 'This project is scheduled for deletion. Ask one of its owners to undo that.';
      },
      [refusal, role, isDeleting],
    ),
  };
}
