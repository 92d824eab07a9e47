import { Turns } from './turns.ts';

/** A newer PUT of the same part took the place of this one. */
export class PartReplaced extends Error {
  override name = 'PartReplaced';
}

/**
 * Allows one write of a part at a time. A newer one aborts the one in flight instead of waiting for it: a client that
 * lost its connection sends the part again long before the server notices that the former connection is dead.
 */
export class PartWrites {
  readonly #turns = new Turns();
  readonly #newest = new Map<string, AbortController>();

  async run<T>(part: string, write: (replaced: AbortSignal) => Promise<T>): Promise<T> {
    this.#newest.get(part)?.abort(new PartReplaced('A newer PUT of this part took the place of this one.'));
    const mine = new AbortController();
    this.#newest.set(part, mine);
    try {
      return await this.#turns.run(part, async () => {
        mine.signal.throwIfAborted();
        return write(mine.signal);
      });
    } finally {
      if (this.#newest.get(part) === mine) this.#newest.delete(part);
    }
  }
}

/** The chunks of the body; throws the signal's reason as soon as it is aborted, also while no chunk arrives. */
export async function* abortable(body: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]();
  let interrupt = (_reason: unknown) => {};
  const abort = () => interrupt(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      // A race of each chunk with one promise would keep all of them in memory until that promise is settled.
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
