import { removeKey, savedKey, saveKey } from '../saved-key.ts';
import { isKeyRefused, notifyKeyChanged } from './refusal.ts';

/**
 * The session of all tabs. Each keeps the key in its own session storage, which is not written to disk; a new tab gets
 * it from one that is open.
 */
type Message =
  | { type: 'ask' }
  | { type: 'key'; key: string }
  | { type: 'signed-out'; key: string }
  /** A change of data that is loaded under these query keys. */
  | { type: 'changed'; queryKeys: readonly (readonly unknown[])[] };

interface Reactions {
  /** This tab had no valid key and has one now. */
  onSignedIn: () => void;
  onSignedOut: () => void;
  onChanged: (queryKeys: readonly (readonly unknown[])[]) => void;
}

/** A visitor without a session waits this long for the sign-in page. */
const ANSWER_MS = 150;

const channel = new BroadcastChannel('session');
const post = (message: Message) => channel.postMessage(message);

export function followTabs({ onSignedIn, onSignedOut, onChanged }: Reactions): void {
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const key = savedKey();
    const isSignedIn = key !== null && !isKeyRefused();
    if (data.type === 'ask' && isSignedIn) post({ type: 'key', key });
    if (data.type === 'key' && !isSignedIn && data.key !== key) {
      saveKey(data.key);
      notifyKeyChanged();
      onSignedIn();
    }
    if (data.type === 'signed-out' && data.key === key) {
      removeKey();
      onSignedOut();
    }
    if (data.type === 'changed' && isSignedIn) onChanged(data.queryKeys);
  });
}

/** Resolves when another tab has given its key to this one, or none has answered. */
export async function askTabsForKey(): Promise<void> {
  const ended = new AbortController();
  const answered = new Promise<void>((resolve) => {
    const end = ({ data }: MessageEvent<Message>) => data.type === 'key' && resolve();
    channel.addEventListener('message', end, { signal: ended.signal });
    setTimeout(resolve, ANSWER_MS);
  });
  post({ type: 'ask' });
  await answered;
  ended.abort();
}

/** Saves the key for this tab, and for those that have no valid one. */
export function startSession(key: string): void {
  saveKey(key);
  notifyKeyChanged();
  post({ type: 'key', key });
}

/** Removes the key from all tabs that have it, with the drafts of its user. */
export function endSession(): void {
  const key = savedKey();
  removeKey();
  if (key !== null) post({ type: 'signed-out', key });
}

export const announceChange = (queryKeys: readonly (readonly unknown[])[]): void =>
  post({ type: 'changed', queryKeys });
