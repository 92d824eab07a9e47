import { type QueryKey, type UseMutationResult, useMutation } from '@tanstack/react-query';
import { queryClient } from './api.ts';

interface Consequences<Answer> {
  /** What must be read again once the change is made. */
  touches: readonly QueryKey[];
  onDone?: (answer: Answer) => void;
}

export const readAgain = (keys: readonly QueryKey[]): Promise<unknown> =>
  Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })));

/** A change to the service. It is over when what it touches has been read again, so nothing old is shown as new. */
export function useChange<Given = void, Answer = void>(
  change: (given: Given) => Promise<Answer>,
  { touches, onDone }: Consequences<Answer>,
): UseMutationResult<Answer, Error, Given> {
  return useMutation({
    mutationFn: change,
    onSuccess: async (answer) => {
      await readAgain(touches);
      onDone?.(answer);
    },
  });
}
