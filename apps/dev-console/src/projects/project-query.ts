import { contract, type Project, type Route } from '@review/contract';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { client } from '../api.ts';
import { useRefusal } from '../session/access.ts';

export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ['projects', id],
    queryFn: async ({ signal }) => (await client.projects.get({ params: { id } }, { signal })).data,
  });

/** Tells why a call on this project must not be made, or null. */
export type ProjectRefusal = (route: Pick<Route, 'metadata' | 'method'>) => string | null;

const reads = ({ method }: { method: string }) => method === 'GET' || method === 'QUERY';

/** The project as far as this key may read it, and what may be done in it. */
export function useProject(id: string): {
  project: Project | undefined;
  /** Whether the role is known, or never will be: until then a list for some roles only is not asked for. */
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
      const isFrozen = project?.deletesAt != null && !reads(route) && !route.metadata.whileDeleting;
      return isFrozen ? 'This project is about to be deleted: undo that in its settings first.' : null;
    },
  };
}
