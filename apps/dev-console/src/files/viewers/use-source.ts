import type { FileDetails } from '@review/contract';
import { useState } from 'react';
import { queryClient } from '../../api.ts';
import { downloadQuery, fileQuery } from '../queries.ts';

/** Presigned URLs are valid for an hour: a second failure within this time is not an expiry. */
const MIN_LIFE_MS = 30 * 60_000;

const objectOf = (url: string | undefined) => url?.split('?')[0];

/**
 * Returns the URL for a player. It does not change when the same object is signed anew, because the player would start from
 * its beginning. A URL that fails after it has played may have expired and is replaced.
 */
export function useSource<Url extends string | undefined>({ id }: Pick<FileDetails, 'id'>, newest: Url) {
  const [source, setSource] = useState(newest);
  const [failure, setFailure] = useState<{ url: Url; at: number }>();
  const hasFailed = failure?.url === source;
  if (source !== newest && (hasFailed || objectOf(source) !== objectOf(newest))) setSource(newest);
  return {
    source,
    isUnplayable: failure !== undefined && hasFailed,
    onFailure(hasPlayed: boolean) {
      const at = Date.now();
      setFailure({ url: source, at });
      if (!hasPlayed || (failure !== undefined && at - failure.at < MIN_LIFE_MS)) return;
      for (const { queryKey } of [downloadQuery(id), fileQuery(id)]) void queryClient.invalidateQueries({ queryKey });
    },
  };
}
