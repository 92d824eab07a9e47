import type { ProjectRole, Route, Scope } from '@review/contract';
import { useCallback } from 'react';
import { queryClient } from '../api.ts';
import { sessionQuery, useSession } from './session-query.ts';

const ROLE_NAMES: Record<ProjectRole, string> = {
  PROJECT_OWNER: 'owner',
  PROJECT_MANAGER: 'manager',
  PROJECT_MEMBER: 'member',
  PROJECT_REVIEWER: 'reviewer',
  PROJECT_RESTRICTED_REVIEWER: 'restricted reviewer',
};
export const roleName = (role: ProjectRole): string => ROLE_NAMES[role];

const oneOf = (words: readonly string[], last: 'or' | 'and') =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;

/** Why the contract's scopes and roles forbid a call, or null. */
function refusalOf({ metadata }: Pick<Route, 'metadata'>, scopes: readonly Scope[], role?: ProjectRole): string | null {
  if (metadata.scopes.length > 0 && !metadata.scopes.some((scope) => scopes.includes(scope))) {
    return `This key lacks the scope ${oneOf(metadata.scopes, 'or')}.`;
  }
  if (role !== undefined && metadata.roles.length > 0 && !metadata.roles.includes(role)) {
    const allowed = metadata.roles.map((name) => `${roleName(name)}s`);
    return `Only ${oneOf(allowed, 'and')} of the project can do this; you are its ${roleName(role)}.`;
  }
  return null;
}

/** Whether the scopes of this session, if it is known, allow a call. */
export const mayCall = (route: Pick<Route, 'metadata'>): boolean =>
  refusalOf(route, queryClient.getQueryData(sessionQuery.queryKey)?.scopes ?? []) === null;

/** Returns a function that says why this session may not call a route, or null. */
export function useRefusal(): (route: Pick<Route, 'metadata'>, role?: ProjectRole) => string | null {
  const { scopes } = useSession();
  // Stable, so that rows of long lists are not rendered again.
  return useCallback((route, role) => refusalOf(route, scopes, role), [scopes]);
}
