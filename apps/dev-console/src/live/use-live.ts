import { contract } from '@review/contract';
import { useEffect, useSyncExternalStore } from 'react';
import { useRefusal } from '../session/access.ts';
import { hold, isOpen, subscribe } from './streams.ts';

/** Follows the changes of a project while mounted. Returns whether its queries are kept current without polling. */
export function useLive(projectId: string | undefined): boolean {
  const isRefused = useRefusal()(contract.events.stream) !== null;
  useEffect(() => (projectId === undefined || isRefused ? undefined : hold(projectId)), [projectId, isRefused]);
  return useSyncExternalStore(subscribe, () => isOpen(projectId));
}

/** The poll interval of a query: none while the events of its project arrive. */
export const usePollInterval = (projectId: string | undefined, milliseconds: number): number | false =>
  useLive(projectId) ? false : milliseconds;
