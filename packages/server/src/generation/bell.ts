import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Rings when a generation may be startable in this process, so that nobody has to ask all the time. */
export class Bell {
  readonly #rings = new EventEmitter().setMaxListeners(0);

  #count = 0;

  /** How often it has rung. */
  get count(): number {
    return this.#count;
  }

  ring(): void {
    this.#count += 1;
    this.#rings.emit('ring');
  }

  /** Until it has rung more often than that, at most that long: no ring is missed while somebody looks. */
  async wait(heard: number, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#count > heard) return;
    const either = new AbortController();
    const stop = AbortSignal.any([either.signal, signal]);
    await Promise.race([
      once(this.#rings, 'ring', { signal: stop }),
      delay(milliseconds, undefined, { signal: stop }),
    ]).catch(() => {});
    either.abort();
  }
}
