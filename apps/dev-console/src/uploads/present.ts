import { useSyncExternalStore } from 'react';

/** The key of the session storage. */
export const STORE = 'uploads';

let isPresent = sessionStorage.getItem(STORE) !== null;
const listeners = new Set<() => void>();

/** The dock is loaded once there is an upload, now or before a reload. */
export const useUploadsPresent = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isPresent,
  );

export function notePresent(): void {
  isPresent = true;
  for (const listener of listeners) listener();
}
