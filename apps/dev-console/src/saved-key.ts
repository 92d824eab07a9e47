const KEY = 'api-key';
const listeners = new Set<() => void>();

/** The API key of this tab, kept in its session storage only; `connection/tabs.ts` shares it with other tabs. */
export const savedKey = (): string | null => sessionStorage.getItem(KEY);
export const saveKey = (key: string): void => sessionStorage.setItem(KEY, key);
/** Removes the key, and also the drafts and unfinished uploads of its user. */
export function removeKey(): void {
  sessionStorage.clear();
  for (const listener of listeners) listener();
}
/** Calls the listener when a user has signed out. */
export const onKeyRemoved = (listener: () => void): void => void listeners.add(listener);
/** Removes only the key: its user can sign in again and finds the drafts. */
export const forgetKey = (): void => sessionStorage.removeItem(KEY);
