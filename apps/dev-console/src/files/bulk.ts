import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { invalidate } from '../api-mutation.ts';

const CONCURRENT = 4;

/** Some of several changes failed. */
export class SomeFailed extends Error {
  override name = 'SomeFailed';
}

/** Changes several files, a few at a time, and counts those that are done. The client waits where the rate is limited. */
export function useBulk(onDone: () => void) {
  const [done, setDone] = useState(0);
  const mutation = useMutation({
    mutationFn: async ({ ids, change }: { ids: readonly string[]; change: (id: string) => Promise<unknown> }) => {
      setDone(0);
      const waiting = [...ids];
      const failures: unknown[] = [];
      const work = async () => {
        for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
          await change(id).catch((failure: unknown) => failures.push(failure));
          setDone((count) => count + 1);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENT }, work));
      const [first] = failures;
      if (failures.length === ids.length && first instanceof Error) throw first;
      if (failures.length > 0)
        throw new SomeFailed(
          `${failures.length} of ${ids.length} files are unchanged: ${first instanceof Error ? first.message : first}`,
        );
    },
    onSuccess: onDone,
    onSettled: () => invalidate([['files'], ['runs'], ['versions']]),
  });
  return { ...mutation, done };
}
