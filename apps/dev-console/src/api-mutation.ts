import { type QueryKey, type UseMutationResult, useMutation } from '@tanstack/react-query';
import { queryClient } from './api.ts';
import { announceChange } from './connection/tabs.ts';

interface MutationEffects<Answer> {
  /** Queries to invalidate after success. */
  invalidates: readonly QueryKey[];
  onDone?: (answer: Answer) => void;
}

/** The key of mutations with an optimistic update of the queries under the same first key. */
export const changeOf = ([root]: QueryKey): QueryKey => ['change', root];

/** Invalidates the queries with these keys, in the other tabs too. */
export function invalidate(keys: readonly QueryKey[]): Promise<unknown> {
  announceChange(keys);
  return Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}

/** A mutation through the API. It stays pending until the invalidated queries are refetched, so no stale data is shown. */
export function useApiMutation<Given = void, Answer = void>(
  mutate: (given: Given) => Promise<Answer>,
  { invalidates, onDone }: MutationEffects<Answer>,
): UseMutationResult<Answer, Error, Given> {
  return useMutation({
    mutationFn: mutate,
    onSuccess: async (answer) => {
      await invalidate(invalidates);
      onDone?.(answer);
    },
  });
}
