import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { client } from '../api.ts';
import type { Group } from './groups.ts';
import { typesOf } from './shown-events.ts';

interface ActivityFilters {
  group: Group | undefined;
  /** The id of the person who made the changes. */
  person: string | undefined;
}

/** The changes of a project, newest first. */
export const activityQuery = (projectId: string, { group, person }: ActivityFilters) =>
  infiniteQueryOptions({
    queryKey: ['activity', projectId, { group, person }],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      client.events.list(
        {
          params: { id: projectId },
          body: {
            types: typesOf(group),
            ...(person !== undefined && { actor: { id: person } }),
            ...(pageParam !== '' && { next: pageParam }),
          },
        },
        { signal },
      ),
    getNextPageParam: ({ page }) => page.next,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
  });
