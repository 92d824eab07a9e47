import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

interface ChatScroll {
  /** The ids of the first and the last item that are shown. */
  first: string | undefined;
  last: string | undefined;
  hasOlder: boolean;
  loadOlder: () => void;
}

const NEAR_PX = 80;

/** Begins at the newest item, loads older ones when their end comes into view, and keeps what is read where it is. */
export function useChatScroll({ first, last, hasOlder, loadOlder }: ChatScroll): {
  list: RefObject<HTMLDivElement | null>;
  top: RefObject<HTMLDivElement | null>;
} {
  const list = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const seen = useRef<{ first: string | undefined; last: string | undefined; toEnd: number }>({
    first: undefined,
    last: undefined,
    toEnd: 0,
  });

  // Before the new items are painted, so that nothing jumps.
  useLayoutEffect(() => {
    const box = list.current;
    if (box === null) return;
    const before = seen.current;
    const wasAtEnd = before.last === undefined || before.toEnd <= box.clientHeight + NEAR_PX;
    if (last !== before.last && wasAtEnd) box.scrollTop = box.scrollHeight;
    else if (first !== before.first) box.scrollTop = box.scrollHeight - before.toEnd;
    seen.current = { first, last, toEnd: box.scrollHeight - box.scrollTop };
  }, [first, last]);

  useEffect(() => {
    const box = list.current;
    if (box === null) return;
    const note = () => {
      seen.current.toEnd = box.scrollHeight - box.scrollTop;
    };
    box.addEventListener('scroll', note, { passive: true });
    return () => box.removeEventListener('scroll', note);
  }, []);

  useEffect(() => {
    if (top.current === null || !hasOlder) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && loadOlder(), {
      root: list.current,
      rootMargin: '120px 0px 0px 0px',
    });
    observer.observe(top.current);
    return () => observer.disconnect();
  }, [hasOlder, first]);

  return { list, top };
}
