import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

interface ChatScroll {
  /** The ids of the first and the last rendered item. */
  first: string | undefined;
  last: string | undefined;
  hasOlder: boolean;
  loadOlder: () => void;
}

const NEAR_PX = 80;

/** Starts at the newest item, loads older ones at the top, and keeps the scroll position when items are added. */
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

  // A layout effect runs before paint, so the list does not jump.
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
