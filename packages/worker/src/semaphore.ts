/**
 * Runs at most a fixed number of functions at once; the others wait in order of arrival. `p-limit` cannot abort one
 * waiting call without dropping the whole queue.
 */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(permits: number) {
    this.#free = permits;
  }

  /** Resolves with the result of `work`. An abort before `work` starts rejects with the signal's reason. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  async #wait(signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = () => {
      const index = this.#waiting.indexOf(resolve);
      // The permit was granted before the abort: `work` starts, and handles the signal itself.
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      reject(signal?.reason);
    };
    this.#waiting.push(resolve);
    signal?.addEventListener('abort', cancel, { once: true });
    await promise.finally(() => signal?.removeEventListener('abort', cancel));
  }
}
