/** Resolves after the delay. Rejects with the signal's reason if it aborts first. */
export const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });

/** The delay after the given count of earlier failures: doubles with each, up to the maximum. */
export const backOffMs = (
  { firstDelayMs, maxDelayMs }: { firstDelayMs: number; maxDelayMs: number },
  failures: number,
): number => Math.min(maxDelayMs, firstDelayMs * 2 ** failures);
