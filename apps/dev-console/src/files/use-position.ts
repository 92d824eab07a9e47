import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Desk } from '../review/desk.tsx';

const route = getRouteApi('/console/files/$fileId');

/** A seek request: the position, and a counter, so that the same position can be requested twice. */
export interface SeekRequest {
  at: number;
  times: number;
}

/**
 * The position in the shown file: milliseconds of a video, page of a document. The URL holds the requested position; the
 * viewer reports the current one.
 */
export function usePosition(desk: Desk) {
  const { at: named = null } = route.useSearch();
  const navigate = route.useNavigate();
  const [at, setAt] = useState<number | null>(named);
  const [asked, setAsked] = useState<SeekRequest | null>(named === null ? null : { at: named, times: 0 });
  const { position: current } = desk;
  const settling = useRef<ReturnType<typeof setTimeout>>(undefined);

  // The URL is that of another file by then.
  useEffect(() => () => clearTimeout(settling.current), []);

  const writeToUrl = useCallback(
    (position: number) => {
      clearTimeout(settling.current);
      settling.current = setTimeout(
        () => void navigate({ search: (now) => ({ ...now, at: position }), replace: true, resetScroll: false }),
        300,
      );
    },
    [navigate],
  );
  const report = useCallback(
    (position: number, settled: boolean) => {
      current.current = position;
      setAt(position);
      if (settled) writeToUrl(position);
    },
    [writeToUrl, current],
  );
  const seek = useCallback(
    (position: number) => {
      setAsked((before) => ({ at: position, times: (before?.times ?? 0) + 1 }));
      writeToUrl(position);
    },
    [writeToUrl],
  );
  return { at, asked, report, seek };
}
