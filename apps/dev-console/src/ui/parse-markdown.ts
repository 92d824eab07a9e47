import type { Parsed } from './markdown-worker.ts';

const MAX_CHARACTERS = 500_000;
const TIMEOUT_MS = 4000;

/** Reused for the next text, because a preview parses on every keystroke. */
let idle: Worker | undefined;

/**
 * Parses Markdown in a worker, so that pathological inputs, which take minutes, do not block the page. Returns null when
 * the text is too large, the parser fails, or the timeout or the signal terminates the worker: show it as plain text.
 */
export async function parseMarkdown(text: string, signal: AbortSignal): Promise<Parsed> {
  if (text.length > MAX_CHARACTERS) return null;
  const worker = idle ?? new Worker(new URL('./markdown-worker.ts', import.meta.url), { type: 'module' });
  idle = undefined;
  const { promise, resolve } = Promise.withResolvers<Parsed>();
  const terminate = () => {
    worker.terminate();
    resolve(null);
  };
  const timer = setTimeout(terminate, TIMEOUT_MS);
  signal.addEventListener('abort', terminate, { once: true });
  worker.onerror = (event) => {
    // Handled here by showing plain text, so it is not reported as an error of the page.
    event.preventDefault();
    terminate();
  };
  worker.onmessage = ({ data }: MessageEvent<Parsed>) => {
    if (idle === undefined) idle = worker;
    else worker.terminate();
    resolve(data);
  };
  worker.postMessage(text);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', terminate);
  });
}
