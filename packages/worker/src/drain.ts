/** Why a worker takes no new work: the operator drains it, or its server is older than itself and may refuse its reports. */
type Reason = 'operator' | 'older server';

/** Whether this worker takes new work. The answers of the server say so, at least those to heartbeats. */
export class Drain {
  #draining = new AbortController();
  #over = Promise.withResolvers<void>();
  readonly #reasons = new Set<Reason>();

  /** Aborted while the worker drains. A later drain has another signal. */
  get signal(): AbortSignal {
    return this.#draining.signal;
  }

  set(reason: Reason, isDraining: boolean): void {
    if (isDraining) this.#reasons.add(reason);
    else this.#reasons.delete(reason);
    if (this.#reasons.size > 0) this.#draining.abort();
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
