import { ApiProblem } from '@review/client';
import { client } from '../api.ts';
import type { Connection } from './connection.ts';
import { patchProgress } from './progress.ts';
import { refetch } from './refetch.ts';
import { ROOTS, touchedBy } from './touched.ts';

/**
 * Over HTTP/1.1 a browser opens at most six connections to a host, for all its tabs. A tab that is hidden for this long
 * therefore closes its stream and catches up when it is shown again. Tabs do not share a stream, because each may have its own key.
 */
const HIDDEN_MS = 5000;
/** The delay before a stream that could not be opened is tried again. */
const RETRY_MS = 10_000;

const isFinal = (error: unknown) => error instanceof ApiProblem && [401, 403, 404].includes(error.status);

/** Keeps the queries of a project current until the signal aborts or the caller has no access. */
export async function follow(
  projectId: string,
  ended: AbortSignal,
  report: (connection: Connection) => void,
): Promise<void> {
  const catchUp = () => refetch(ROOTS.map((root) => [root]));
  let connected = 0;
  const onConnection = async (connection: 'open' | 'lost') => {
    connected += 1;
    const current = connected;
    if (connection === 'open') await catchUp();
    if (current === connected) report(connection);
  };
  while (!ended.aborted) {
    await shown(ended);
    const visibility = watchVisibility();
    const signal = AbortSignal.any([ended, visibility.hidden]);
    try {
      for await (const event of client.events(projectId, { signal, onConnection })) {
        if (event.type === 'reset') void catchUp();
        else {
          if (event.type === 'file.generation.progressed') patchProgress(event);
          void refetch(touchedBy(event));
        }
      }
    } catch (error) {
      connected += 1;
      const isUnreachable = !signal.aborted && !(error instanceof ApiProblem);
      report(isUnreachable ? 'lost' : 'closed');
      if (isFinal(error)) return void catchUp();
      if (!signal.aborted) await pause(RETRY_MS, signal);
    } finally {
      visibility.stop();
    }
  }
}

/** Resolves when the tab is shown, or the signal aborts. */
const shown = (ended: AbortSignal) =>
  new Promise<void>((resolve) => {
    const check = () => {
      if (document.visibilityState === 'hidden' && !ended.aborted) return;
      document.removeEventListener('visibilitychange', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    ended.addEventListener('abort', check, { once: true });
    check();
  });

/** `hidden` aborts when the tab has been hidden for a while. */
function watchVisibility(): { hidden: AbortSignal; stop: () => void } {
  const hidden = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = () => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') timer = setTimeout(() => hidden.abort(), HIDDEN_MS);
  };
  document.addEventListener('visibilitychange', check);
  return {
    hidden: hidden.signal,
    stop() {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', check);
    },
  };
}

const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
