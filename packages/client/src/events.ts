import { contract, EVENT_STREAM, EVENTS, type ProjectEvent } from '@review/contract';
import { backOffMs } from './back-off.ts';
import { addressOf, readAnswer, type Transport, tokenOf } from './call.ts';
import { readMessages } from './event-source.ts';
import { pause } from './pause.ts';
import { ApiProblem } from './problem.ts';
import { DELAYS, isTransient, retryAfterOf, retryTransient } from './retry.ts';

/** Three heartbeats of the service. A connection without a byte for so long is dead. */
const SILENCE_MS = 45_000;

export interface EventsOptions {
  /** Continue after the event with this id. Without it, the next change is the first event. */
  after?: string;
  /** Ends the iteration with the signal's reason. */
  signal?: AbortSignal;
  /** Called with `open` when the service has begun to send, and with `lost` when it must be connected again. */
  onConnection?: (connection: 'open' | 'lost') => void;
}

/** Events were lost: the service no longer keeps those after the last one received. Read the state again. */
export interface EventsReset {
  type: 'reset';
  /** The event after which the stream continues. */
  id: string;
}

/**
 * Yields the changes of a project in order, each once. Connects again after an interruption and continues after the last
 * event. Throws an `ApiProblem` when access is lost.
 */
export async function* followEvents(
  transport: Transport,
  project: string,
  { after, signal, onConnection }: EventsOptions = {},
): AsyncGenerator<ProjectEvent | EventsReset, void> {
  let position = after;
  let failures = 0;
  // A wrong address shows at the first connection. Later ones are tried without an end.
  let connection = await retryTransient(() => connect(transport, project, position, signal), {
    retries: transport.retries,
    signal,
  });
  for (;;) {
    let isOpen = false;
    try {
      for await (const message of readMessages(connection.chunks)) {
        failures = 0;
        // Not earlier: a change before the first message may not be part of the stream.
        if (!isOpen) onConnection?.('open');
        isOpen = true;
        if (message === null || message.id === null) continue;
        const isRepeated = position !== undefined && Number(message.id) <= Number(position);
        position = message.id;
        if (message.event === 'reset') yield { type: 'reset', id: message.id };
        else if (message.data !== '' && !isRepeated) yield* knownEvents(message.data);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isLostConnection(error)) throw error;
    } finally {
      connection.close();
    }
    if (isOpen) onConnection?.('lost');
    for (let isConnected = false; !isConnected; ) {
      await pause(Math.random() * backOffMs(DELAYS, failures), signal);
      failures += 1;
      try {
        connection = await connect(transport, project, position, signal);
        isConnected = true;
      } catch (error) {
        signal?.throwIfAborted();
        if (!isTransient(error)) throw error;
        await pause(retryAfterOf(error) ?? 0, signal);
      }
    }
  }
}

/** Yields the event unless a newer service sent it, whose type this client does not know. */
function* knownEvents(data: string): Generator<ProjectEvent, void> {
  const json: { type?: unknown } = JSON.parse(data);
  const parsed = EVENTS.find(({ type }) => type === json.type)?.schema.safeParse(json);
  if (parsed?.success) yield parsed.data;
}

interface Connection {
  chunks: AsyncIterable<Uint8Array>;
  close(): void;
}

async function connect(
  transport: Transport,
  project: string,
  position: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const closing = new AbortController();
  const close = () => closing.abort();
  const timer = silenceTimer(closing);
  const headers = new Headers(transport.headers());
  headers.set('accept', EVENT_STREAM);
  headers.set('authorization', `Bearer ${await tokenOf(transport)}`);
  if (position !== undefined) headers.set('last-event-id', position);
  const { fetch } = transport;
  try {
    const response = await fetch(addressOf(transport, contract.events.stream, { params: { id: project } }), {
      headers,
      cache: 'no-store',
      signal: AbortSignal.any(signal ? [signal, closing.signal] : [closing.signal]),
    });
    const isStream = response.headers.get('content-type')?.startsWith(EVENT_STREAM) === true;
    if (!response.ok || !isStream || response.body === null) throw new ApiProblem(await readAnswer(response));
    return { chunks: chunksOf(response.body, timer), close };
  } catch (error) {
    timer.stop();
    close();
    throw error;
  }
}

interface SilenceTimer {
  restart(): void;
  stop(): void;
}

/** Aborts like a timeout of `fetch` when nothing arrives for a while. */
function silenceTimer(closing: AbortController): SilenceTimer {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  const restart = () => {
    stop();
    const silent = () => closing.abort(new DOMException('The stream of events is silent.', 'TimeoutError'));
    timer = setTimeout(silent, SILENCE_MS);
  };
  restart();
  return { restart, stop };
}

/** Reads the body. The time that the caller spends with a chunk does not count as silence. */
async function* chunksOf(body: ReadableStream<Uint8Array>, timer: SilenceTimer): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  try {
    for (;;) {
      timer.restart();
      const { done, value } = await reader.read();
      timer.stop();
      if (done) return;
      yield value;
    }
  } finally {
    timer.stop();
  }
}

/** Whether the connection ended early, by an error of the network or by silence. */
const isLostConnection = (error: unknown) =>
  error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError');
