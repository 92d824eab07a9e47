import type { Deps } from '../../deps.ts';
import { ProblemError } from '../../request/problem.ts';
import { findLastSequences, listEventsAfter, openEvents, type StoredEvent } from './queries.ts';
import { toFrame } from './response.ts';

/**
 * The poll interval for events of other processes, whose notification can be lost, and for credentials: results of up to 500 ms
 * ago are cached, and a revoked key must end its streams within a second.
 */
const POLL_INTERVAL_MS = 400;
const MAX_STREAMS_PER_CREDENTIAL = 100;
/** For a project without events. */
const NONE = -1;

/** The events after a position, in order. */
export interface Batch {
  /** Each with its text in a stream. */
  events: { row: StoredEvent; frame: string }[];
  /** Returns those that restricted reviewers may see now. */
  open(): Promise<ReadonlySet<StoredEvent>>;
}

/** The credential that a stream was opened with. */
interface Credential {
  id: string;
  isValid(): Promise<boolean>;
}

/** An open stream of a project. */
export interface FeedStream {
  /** Aborted when the stream must end. */
  signal: AbortSignal;
  /** Resolves at the next wake, or after the timeout. Returns whether it was woken. */
  wait(timeoutMs: number): Promise<boolean>;
  wake(): void;
}

type FeedDeps = Pick<Deps, 'db' | 'projectNotifier' | 'config' | 'log'>;

/** Reads events for the streams of this process. Streams at the same position share their reads. */
export class EventFeed {
  readonly #deps: FeedDeps;
  readonly #reads = new Map<string, Promise<Batch>>();
  /** The open streams of each credential. */
  readonly #streams = new Map<string, number>();
  /** A check of each open stream, which ends it if its credential is no longer valid. */
  readonly #checks = new Set<() => Promise<void>>();
  /** The last known event of each watched project. */
  readonly #known = new Map<string, number>();
  #count = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
  }

  /** Opens a stream until the signal is aborted or the credential is no longer valid. Polls while there is one. */
  open(projectId: string, credential: Credential, given: AbortSignal): FeedStream {
    const { projectNotifier } = this.#deps;
    this.#admit(credential.id);
    const subscription = projectNotifier.subscribe(projectId);
    this.#timer ??= setInterval(() => void this.#poll(), POLL_INTERVAL_MS).unref();
    const ended = new AbortController();
    const signal = AbortSignal.any([given, ended.signal]);
    const check = async () => {
      if (!(await credential.isValid())) ended.abort();
    };
    this.#checks.add(check);
    const close = () => {
      this.#checks.delete(check);
      subscription[Symbol.dispose]();
      subscription.wake();
      this.#release(credential.id);
    };
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
    return { signal, wait: (ms) => subscription.wait(ms), wake: () => subscription.wake() };
  }

  /** Returns the next events after a position. */
  read(projectId: string, after: number): Promise<Batch> {
    // A stream that was woken needs a read that began after it.
    const key = `${projectId} ${after} ${this.#deps.projectNotifier.wakes}`;
    const shared = this.#reads.get(key) ?? this.#read(projectId, after).finally(() => this.#reads.delete(key));
    this.#reads.set(key, shared);
    return shared;
  }

  async #read(projectId: string, after: number): Promise<Batch> {
    const { db } = this.#deps;
    const rows = await listEventsAfter(db, { projectId, after });
    const last = rows.at(-1)?.sequence ?? NONE;
    if (last > (this.#known.get(projectId) ?? NONE)) this.#known.set(projectId, last);
    let open: Promise<Set<StoredEvent>> | undefined;
    return {
      events: rows.map((row) => ({ row, frame: toFrame(row) })),
      open() {
        open ??= openEvents(db, projectId, rows);
        return open;
      },
    };
  }

  /** Counts the stream, or throws if there are too many. */
  #admit(credentialId: string): void {
    const own = this.#streams.get(credentialId) ?? 0;
    if (own >= MAX_STREAMS_PER_CREDENTIAL) {
      throw new ProblemError('RATE_LIMITED', {
        detail: `At most ${MAX_STREAMS_PER_CREDENTIAL} streams may be open at once. Close one of them.`,
        headers: { 'Retry-After': '5' },
      });
    }
    if (this.#count >= this.#deps.config.streamLimit) {
      throw new ProblemError('NOT_READY', {
        detail: 'This server has the maximum of open event streams. Retry later, or list the activity instead.',
        headers: { 'Retry-After': '5' },
      });
    }
    this.#streams.set(credentialId, own + 1);
    this.#count += 1;
  }

  #release(credentialId: string): void {
    this.#count -= 1;
    const left = (this.#streams.get(credentialId) ?? 1) - 1;
    if (left > 0) this.#streams.set(credentialId, left);
    else this.#streams.delete(credentialId);
    if (this.#count > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#known.clear();
  }

  /**
   * Ends the streams of invalid credentials, and wakes those of projects that have new events or no longer exist. All checks
   * begin in the same turn, so that their credentials are looked up by one statement.
   */
  async #poll(): Promise<void> {
    const { db, projectNotifier, log } = this.#deps;
    try {
      await Promise.all(Array.from(this.#checks, (check) => check()));
      const found = await findLastSequences(db, projectNotifier.watched);
      for (const id of projectNotifier.watched) {
        const last = found.get(id) ?? NONE;
        if (this.#known.get(id) !== last) projectNotifier.wake([id]);
        this.#known.set(id, last);
      }
    } catch (error) {
      log.debug({ err: error }, 'events not polled');
    }
  }
}
