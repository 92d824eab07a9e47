import { type Client, createClient } from '@review/client';

const KEY = 'api-key';

/** The key lives in this tab's session only. */
export const savedKey = (): string | null => sessionStorage.getItem(KEY);
export const saveKey = (key: string): void => sessionStorage.setItem(KEY, key);
export const forgetKey = (): void => sessionStorage.removeItem(KEY);

export const clientFor = (key: string): Client => createClient({ baseUrl: window.location.origin, token: key });
