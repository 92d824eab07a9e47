const KEY = 'api-key';

/** The API key of this tab, kept in its session storage only; a new tab asks for it again. */
export const savedKey = (): string | null => sessionStorage.getItem(KEY);
export const saveKey = (key: string): void => sessionStorage.setItem(KEY, key);
/** Removes the key, and also the drafts and unfinished uploads of its user. */
export const removeKey = (): void => sessionStorage.clear();
