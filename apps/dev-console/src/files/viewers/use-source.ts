import type { FileDetails } from '@review/contract';
import { useState } from 'react';
import { queryClient } from '../../api.ts';
import { useSteadyUrl } from '../media/renditions.ts';
import { downloadQuery, fileQuery } from '../queries.ts';

/** URLs live for an hour: one that fails sooner after another has not expired. */
const MIN_LIFE_MS = 30 * 60_000;

/** The URL that a player has. One that fails after it has played may have expired, and is replaced. */
export function useSource({ id }: FileDetails, newest: string) {
  const [failure, setFailure] = useState<{ url: string; at: number }>();
  const source = useSteadyUrl(newest, failure?.url) ?? newest;
  return {
    source,
    isUnplayable: failure?.url === source,
    onFailure(hasPlayed: boolean) {
      const at = Date.now();
      setFailure({ url: source, at });
      if (!hasPlayed || (failure !== undefined && at - failure.at < MIN_LIFE_MS)) return;
      for (const { queryKey } of [downloadQuery(id), fileQuery(id)]) void queryClient.invalidateQueries({ queryKey });
    },
  };
}
