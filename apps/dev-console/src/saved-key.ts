const KEY = 'api-key';

/** The key lives in this tab's session only: another tab, or this one opened again, asks for it anew. */
export const savedKey = (): string | null => sessionStorage.getItem(KEY);
export const saveKey = (key: string): void => sessionStorage.setItem(KEY, key);
/** Drafts and unfinished uploads of this tab belong to whoever was signed in, and go too. */
export const forgetKey = (): void => sessionStorage.clear();
