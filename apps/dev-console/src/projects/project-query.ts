import { contract, type Project, type Route } from '@review/contract';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { client } from '../api.ts';
import { useRefusal } from '../session/access.ts';

export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ['projects', id],
    queryFn: async ({ signal }) => (await client.projects.get({ params: { id } }, { signal })).data,
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
  return {
    project,
    isSettled: !isLoading,
    refusal: (route) => {
      const forbidden = refusal(route, project?.role);
      if (forbidden !== null) return forbidden;
      const isFrozen = project?.deletesAt != null && !isRead(route) && !route.metadata.whileDeleting;
      return isFrozen ? 'This project is scheduled for deletion. Undo the deletion in its settings first.' : null;
    },
  };
}
