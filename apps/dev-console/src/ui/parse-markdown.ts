import type { Parsed } from './markdown-worker.ts';

const MOST_CHARACTERS = 500_000;
const MOST_MS = 4000;

/** Kept for the next text: a preview is parsed with every key. */
let idle: Worker | undefined;

/**
 * Parses in a worker, which is ended when the signal fires or the time is over: some short texts take minutes, and the
 * page must not stand still meanwhile. Null where the text is better shown as it is.
 */
export async function parseMarkdown(text: string, signal: AbortSignal): Promise<Parsed> {
  if (text.length > MOST_CHARACTERS) return null;
  const worker = idle ?? new Worker(new URL('./markdown-worker.ts', import.meta.url), { type: 'module' });
  idle = undefined;
  const { promise, resolve } = Promise.withResolvers<Parsed>();
  const giveUp = () => {
    worker.terminate();
    resolve(null);
  };
  const timer = setTimeout(giveUp, MOST_MS);
  signal.addEventListener('abort', giveUp, { once: true });
  worker.onerror = (event) => {
    // What the parser cannot do is shown as plain text; nothing is wrong with the page.
    event.preventDefault();
    giveUp();
  };
  worker.onmessage = ({ data }: MessageEvent<Parsed>) => {
    if (idle === undefined) idle = worker;
    else worker.terminate();
    resolve(data);
  };
  worker.postMessage(text);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  });
}
