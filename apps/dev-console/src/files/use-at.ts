import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useRef, useState } from 'react';

const route = getRouteApi('/console/files/$fileId');

/** Where to look in a file, and how often that was asked, so that the same place can be asked for twice. */
export interface Asked {
  at: number;
  times: number;
}

/**
 * The place in the file that is shown: milliseconds of a video, the page of a document. The address names where the
 * visitor wants to be; the viewer says where it is.
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
