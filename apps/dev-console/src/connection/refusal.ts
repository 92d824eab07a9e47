import { useSyncExternalStore } from 'react';
import { savedKey } from '../saved-key.ts';

/** The key that the service answered with 401. */
let refusedKey: string | null = null;
const listeners = new Set<() => void>();

export function noteRefusal(authorization: string | null): void {
  const key = savedKey();
  if (key === null || key === refusedKey || authorization !== `Bearer ${key}`) return;
  refusedKey = key;
  for (const listener of listeners) listener();
}

/** Whether the service refuses the key of this session. */
export const isKeyRefused = (): boolean => refusedKey !== null && refusedKey === savedKey();

export const useKeyRefused = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, isKeyRefused);

/** Call after another key was saved. */
export function notifyKeyChanged(): void {
  for (const listener of listeners) listener();
}
