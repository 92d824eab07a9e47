import { KeyedMutex } from './keyed-mutex.ts';

/** A newer PUT of the same part aborted this one. */
export class PartReplaced extends Error {
  override name = 'PartReplaced';
}

/**
 * Runs one write per part at a time. A newer write aborts the one in flight instead of waiting for it, because a client
 * that lost its connection retries long before the server notices the dead connection.
 */
export class PartWrites {
  readonly #mutex = new KeyedMutex();
  readonly #newest = new Map<string, AbortController>();

  async run<T>(part: string, write: (replaced: AbortSignal) => Promise<T>): Promise<T> {
    this.#newest.get(part)?.abort(new PartReplaced('A newer PUT of this part replaced this one.'));
    const mine = new AbortController();
    this.#newest.set(part, mine);
    try {
      return await this.#mutex.run(part, async () => {
        mine.signal.throwIfAborted();
        return write(mine.signal);
      });
    } finally {
      if (this.#newest.get(part) === mine) this.#newest.delete(part);
    }
  }
}

/** Passes the chunks on; throws the signal's reason on abort, also while it waits for a chunk. */
export async function* abortable(body: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]();
  let interrupt = (_reason: unknown) => {};
  const abort = () => interrupt(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      // Promise.race with one abort promise would retain every chunk until that promise settles.
      const { done, value } = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        interrupt = reject;
        chunks.next().then(resolve, reject);
      });
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    if (!signal.aborted) await chunks.return?.();
  }
}
