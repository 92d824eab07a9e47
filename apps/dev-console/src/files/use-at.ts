import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useRef, useState } from 'react';

const route = getRouteApi('/console/files/$fileId');

/** A seek request: the position, and a counter, so that the same position can be requested twice. */
export interface Asked {
  at: number;
  times: number;
}

/**
 * The position in the shown file: milliseconds of a video, page of a document. The URL holds the requested position; the
 * viewer reports the current one.
 */
export function useAt() {
  const { at: named = null } = route.useSearch();
  const navigate = route.useNavigate();
  const [at, setAt] = useState<number | null>(named);
  const [asked, setAsked] = useState<Asked | null>(named === null ? null : { at: named, times: 0 });
  const settling = useRef<ReturnType<typeof setTimeout>>(undefined);

  const name = useCallback(
    (place: number) => {
      clearTimeout(settling.current);
      settling.current = setTimeout(
        () => void navigate({ search: (now) => ({ ...now, at: place }), replace: true, resetScroll: false }),
        300,
      );
    },
    [navigate],
  );
  const look = useCallback(
    (place: number, settled: boolean) => {
      setAt(place);
      if (settled) name(place);
    },
    [name],
  );
  const jump = useCallback(
    (place: number) => {
      setAsked((before) => ({ at: place, times: (before?.times ?? 0) + 1 }));
      name(place);
    },
    [name],
  );
  return { at, asked, look, jump };
}
