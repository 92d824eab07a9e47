import { contract } from '@review/contract';
import { useQuery } from '@tanstack/react-query';
import { useProject } from '../projects/project-query.ts';
import { meQuery } from '../session/me-query.ts';
import { membersQuery } from './queries.ts';

/** The user id of the session, or null. Keys do not expose it, but a sole member with the caller's role is the caller. */
export function useMe(projectId: string): string | null {
  const { data: known } = useQuery(meQuery);
  const { project, refusal } = useProject(projectId);
  const enabled = known === null && project !== undefined && refusal(contract.members.list) === null;
  const { data: members = [] } = useQuery({ ...membersQuery(projectId), enabled });
  const [only, ...others] = members.filter(({ role }) => role === project?.role);
  return known ?? (others.length === 0 ? (only?.user.id ?? null) : null);
}
