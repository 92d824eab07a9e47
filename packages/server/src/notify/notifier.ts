import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Notifies waiters in this process, so that they do not have to poll. */
export class Notifier {
  readonly #events = new EventEmitter().setMaxListeners(0);

  #count = 0;

  /** The number of notifications so far. */
  get count(): number {
    return this.#count;
  }

  notify(): void {
    this.#count += 1;
    this.#events.emit('notify');
  }

  /** Resolves when the count exceeds `seen`, after the timeout, or when the signal is aborted. */
  async wait(seen: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#count > seen) return;
    const settled = new AbortController();
    const stop = AbortSignal.any([settled.signal, signal]);
    await Promise.race([
      once(this.#events, 'notify', { signal: stop }),
      delay(timeoutMs, undefined, { signal: stop }),
    ]).catch(() => {});
    settled.abort();
  }
}
