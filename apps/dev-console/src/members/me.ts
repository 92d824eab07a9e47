import { contract } from '@review/contract';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useProject } from '../projects/project-query.ts';
import { membersQuery } from './queries.ts';

/** Who is signed in, once something this session wrote has told. */
export const meQuery = queryOptions<string | null>({
  queryKey: ['me'],
  queryFn: () => null,
  enabled: false,
  initialData: null,
  gcTime: Number.POSITIVE_INFINITY,
});

/** The user behind the key, or null: a key does not say it, but the only member with the caller's role is the caller. */
export function useMe(projectId: string): string | null {
  const { data: told } = useQuery(meQuery);
  const { project, refusal } = useProject(projectId);
  const enabled = told === null && project !== undefined && refusal(contract.members.list) === null;
  const { data: members = [] } = useQuery({ ...membersQuery(projectId), enabled });
  const [only, ...others] = members.filter(({ role }) => role === project?.role);
  return told ?? (others.length === 0 ? (only?.user.id ?? null) : null);
}
