import { text } from 'node:stream/consumers';
import { NoSuchObject, type Storage } from './storage.ts';

/** The object with the time until which no blobs are deleted. */
const KEY = 'backup-hold';
/** Longer than a command can be busy with one step, such as the copy of a large database. */
const HOLD_MS = 3_600_000;
const RENEW_MS = 300_000;

export interface Hold extends Disposable {
  /** Throws if the hold could not be renewed in time, so that blobs may have been deleted. */
  requireUnbroken(): void;
}

/**
 * Keeps the sweeps of all servers from deleting blobs. It is renewed until it is disposed, and then lapses: it is not
 * removed, because another backup may rely on it.
 */
export async function holdDeletions(storage: Storage): Promise<Hold> {
  let until = 0;
  let isBroken = false;
  const renew = async () => {
    const next = Date.now() + HOLD_MS;
    await storage.put(KEY, Buffer.from(new Date(next).toISOString()));
    isBroken ||= until !== 0 && until < Date.now();
    until = next;
  };
  await renew();
  // The next interval retries a failure.
  const timer = setInterval(() => void renew().catch(() => {}), RENEW_MS);
  timer.unref();
  return {
    requireUnbroken() {
      if (isBroken || until < Date.now())
        throw new Error(
          'The storage did not answer for an hour, so that deleted files may be missing in the backup. Repeat it.',
        );
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Whether a backup is running, or ended within the last hour. */
export async function areDeletionsHeld(storage: Storage): Promise<boolean> {
  try {
    return Date.parse(await text(await storage.read(KEY))) > Date.now();
  } catch (error) {
    if (error instanceof NoSuchObject) return false;
    throw error;
  }
}
