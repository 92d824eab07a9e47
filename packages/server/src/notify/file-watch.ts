import { EventEmitter } from 'node:events';

/** How often a waiting request looks by itself, for what other processes changed. */
const LOOK_EVERY_MS = 500;

/** Lets requests wait for a file to change, a bounded number at once. */
export class FileWatch {
  readonly #changes = new EventEmitter();
  readonly #limit: number;
  readonly #longestMs: number;
  #waiting = 0;
  #closed = false;

  constructor(limit: number, longestMs: number) {
    this.#limit = limit;
    this.#longestMs = longestMs;
    this.#changes.setMaxListeners(0);
  }

  changed(fileId: string): void {
    this.#changes.emit(fileId);
  }

  /** Ends all waiting: the process stops. */
  wakeAll(): void {
    this.#closed = true;
    for (const name of this.#changes.eventNames()) this.#changes.emit(name);
  }

  /** Looks again whenever the file may have changed, until the answer is final or the time is over. */
  async until<T>(
    fileId: string,
    look: () => Promise<T>,
    isFinal: (seen: T) => boolean,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<T> {
    const deadline = performance.now() + Math.min(waitMs, this.#longestMs);
    let seen = await look();
    if (this.#waiting >= this.#limit) return seen;
    this.#waiting += 1;
    try {
      while (!isFinal(seen) && !this.#closed && !signal.aborted && performance.now() < deadline) {
        await this.#nextLook(fileId, Math.min(LOOK_EVERY_MS, deadline - performance.now()), signal);
        seen = await look();
      }
      return seen;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Resolves on a change, after that time, or when the caller has gone. */
  async #nextLook(fileId: string, milliseconds: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = setTimeout(wake, milliseconds);
    // Not `once` of node:events: it also listens for 'error', which wakeAll would then emit to no listener.
    this.#changes.on(fileId, wake);
    signal.addEventListener('abort', wake);
    await promise;
    clearTimeout(timer);
    this.#changes.off(fileId, wake);
    signal.removeEventListener('abort', wake);
  }
}
