import { useSyncExternalStore } from 'react';
import { savedKey } from '../saved-key.ts';

export type Reachability =
  | { is: 'reached' }
  /** `retryAt` is null during an attempt. */
  | { is: 'away'; retryAt: number | null }
  /** The service refuses requests until then, by the browser's clock. */
  | { is: 'limited'; until: number };

/** A request got no answer. A `TypeError`, as `fetch` throws, so that the client retries it. */
export class Unreachable extends TypeError {
  override name = 'Unreachable';
}

const FIRST_DELAY_MS = 2000;
const MAX_DELAY_MS = 30_000;
const TIMEOUT_MS = 10_000;
/** Answers of a proxy in front of a service that is away. */
const GATEWAY_STATUSES: readonly number[] = [502, 503, 504];

const REACHED = { is: 'reached' } as const;
let current: Reachability = REACHED;
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const reachedListeners = new Set<() => void>();

export const useReachability = (): Reachability =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );

/** Calls the listener each time that the service answers again. */
export function onReached(listener: () => void): () => void {
  reachedListeners.add(listener);
  return () => reachedListeners.delete(listener);
}

function set(next: Reachability): void {
  current = next;
  for (const listener of listeners) listener();
}

export function noteNoAnswer(): void {
  if (current.is !== 'away') schedule();
}

export function noteAnswer(response: Response): void {
  if (GATEWAY_STATUSES.includes(response.status)) noteNoAnswer();
  else if (current.is === 'away') noteReached();
  if (response.status === 429) noteLimit(Number(response.headers.get('retry-after')) || 1);
}

function noteReached(): void {
  clearTimeout(timer);
  failures = 0;
  set(REACHED);
  for (const listener of reachedListeners) listener();
}

/** The client repeats refused requests itself, as soon as the service allows. */
function noteLimit(seconds: number): void {
  const until = Date.now() + seconds * 1000;
  if (current.is === 'limited' && current.until >= until) return;
  clearTimeout(timer);
  timer = setTimeout(() => set(REACHED), seconds * 1000);
  set({ is: 'limited', until });
}

function schedule(): void {
  clearTimeout(timer);
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures);
  failures += 1;
  timer = setTimeout(() => void tryNow(), delay);
  set({ is: 'away', retryAt: Date.now() + delay });
}

/** Returns whether the service answers. Without a key only its readiness can be read. */
export async function tryNow(): Promise<boolean> {
  if (current.is === 'away') {
    clearTimeout(timer);
    set({ is: 'away', retryAt: null });
  }
  const key = savedKey();
  try {
    const response = await fetch(key === null ? '/readyz' : '/api/ping', {
      cache: 'no-store',
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!GATEWAY_STATUSES.includes(response.status)) {
      noteAnswer(response);
      return true;
    }
  } catch {
    // The next attempt follows.
  }
  schedule();
  return false;
}

window.addEventListener('offline', noteNoAnswer);
window.addEventListener('online', () => {
  if (current.is === 'away') void tryNow();
});
