import type { Connection } from './connection.ts';

interface Stream {
  connection: Connection;
  users: number;
  end: AbortController;
  closing?: ReturnType<typeof setTimeout>;
}

/** The next page of the same project takes the stream over. */
const LINGER_MS = 5000;

const streams = new Map<string, Stream>();
const listeners = new Set<() => void>();

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(): void {
  for (const listener of listeners) listener();
}

export const isOpen = (projectId: string | undefined): boolean =>
  projectId !== undefined && streams.get(projectId)?.connection === 'open';

export const isAnyLost = (): boolean => [...streams.values()].some(({ connection }) => connection === 'lost');

/** Keeps the stream of a project open until the returned function is called. A project has one stream. */
export function hold(projectId: string): () => void {
  const stream = streams.get(projectId) ?? open(projectId);
  stream.users += 1;
  clearTimeout(stream.closing);
  return () => {
    stream.users -= 1;
    if (stream.users === 0) stream.closing = setTimeout(() => close(projectId, stream), LINGER_MS);
  };
}

/** Ends all streams: the next session may have another key. */
export function closeAll(): void {
  for (const [projectId, stream] of streams) close(projectId, stream);
}

/** Opens the streams anew: the service ended those of a key that is no longer valid. */
export function reopenAll(): void {
  for (const [projectId, stream] of streams) {
    stream.end.abort();
    stream.end = new AbortController();
    start(projectId, stream);
  }
}

function open(projectId: string): Stream {
  const stream: Stream = { connection: 'closed', users: 0, end: new AbortController() };
  streams.set(projectId, stream);
  start(projectId, stream);
  return stream;
}

function start(projectId: string, stream: Stream): void {
  const { signal } = stream.end;
  const report = (connection: Connection) => {
    if (signal.aborted) return;
    stream.connection = connection;
    notify();
  };
  // Without the module, as after an update of the service, pages poll.
  import('./follow.ts').then(({ follow }) => follow(projectId, signal, report)).catch(() => {});
}

function close(projectId: string, stream: Stream): void {
  clearTimeout(stream.closing);
  stream.end.abort();
  if (streams.get(projectId) === stream) streams.delete(projectId);
  notify();
}
