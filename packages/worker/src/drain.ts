/** Whether the operator has asked this worker to take no new work. The server says so in its answer to each heartbeat. */
export class Drain {
  #draining = new AbortController();
  #over = Promise.withResolvers<void>();

  /** Aborted while the worker drains. A later drain has another signal. */
  get signal(): AbortSignal {
    return this.#draining.signal;
  }

  set(isDraining: boolean): void {
    if (isDraining) this.#draining.abort();
    else if (this.#draining.signal.aborted) {
      this.#draining = new AbortController();
      this.#over.resolve();
      this.#over = Promise.withResolvers();
    }
  }

  /** Resolves when the worker does not drain, or when the signal aborts. */
  async waitUntilOver(stop: AbortSignal): Promise<void> {
    if (!this.#draining.signal.aborted || stop.aborted) return;
    const stopped = Promise.withResolvers<void>();
    const onStop = () => stopped.resolve();
    stop.addEventListener('abort', onStop, { once: true });
    await Promise.race([this.#over.promise, stopped.promise]);
    stop.removeEventListener('abort', onStop);
  }
}
