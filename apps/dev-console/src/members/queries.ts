import { queryOptions } from '@tanstack/react-query';
import { client } from '../api.ts';

export const membersQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['members', projectId],
    queryFn: async () => (await client.members.list({ params: { id: projectId } })).data,
  });

export const workspaceMembersQuery = queryOptions({
  queryKey: ['workspace-members'],
  queryFn: async () => (await client.members.listWorkspace()).data,
});
