import { EventEmitter } from 'node:events';

/** The poll interval for changes made by other processes. */
const POLL_INTERVAL_MS = 500;

/** Long polling for changes of a file, with a limit of concurrent waits. */
export class FileWatch {
  readonly #changes = new EventEmitter();
  readonly #limit: number;
  readonly #maxWaitMs: number;
  #waiting = 0;
  #closed = false;

  constructor(limit: number, maxWaitMs: number) {
    this.#limit = limit;
    this.#maxWaitMs = maxWaitMs;
    this.#changes.setMaxListeners(0);
  }

  changed(fileId: string): void {
    this.#changes.emit(fileId);
  }

  /** Ends all waits, now and later, because the process stops. */
  wakeAll(): void {
    this.#closed = true;
    for (const name of this.#changes.eventNames()) this.#changes.emit(name);
  }

  /**
   * Calls `look` on each change of the file and returns its last result: when `isFinal` accepts it, after the timeout, or
   * at once if too many requests wait.
   */
  async until<T>(
    fileId: string,
    look: () => Promise<T>,
    isFinal: (seen: T) => boolean,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<T> {
    const deadline = performance.now() + Math.min(waitMs, this.#maxWaitMs);
    let seen = await look();
    if (this.#waiting >= this.#limit) return seen;
    this.#waiting += 1;
    try {
      while (!isFinal(seen) && !this.#closed && !signal.aborted && performance.now() < deadline) {
        await this.#nextLook(fileId, Math.min(POLL_INTERVAL_MS, deadline - performance.now()), signal);
        seen = await look();
      }
      return seen;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Resolves on a change, after that time, or when the caller disconnects. */
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
