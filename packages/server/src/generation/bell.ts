import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Rings when a generation may be startable in this process, so that nobody has to ask all the time. */
export class Bell {
  readonly #rings = new EventEmitter().setMaxListeners(0);

  ring(): void {
    this.#rings.emit('ring');
  }

  /** Until the next ring, at most that long. */
  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    const either = new AbortController();
    const stop = AbortSignal.any([either.signal, signal]);
    await Promise.race([
      once(this.#rings, 'ring', { signal: stop }),
      delay(milliseconds, undefined, { signal: stop }),
    ]).catch(() => {});
    either.abort();
  }
}
