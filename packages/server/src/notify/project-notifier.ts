import type { Counter } from 'prom-client';

/** Reaches the other processes. */
interface Broadcast {
  send(projectIds: readonly string[]): void;
  listen(): void;
}

/** An event that was stored. */
interface Announced {
  projectId: string;
  type: string;
}

/** Wakes the event streams of a project after a change, in this process and in others. */
export class ProjectNotifier {
  readonly #subscriptions = new Map<string, Set<ProjectSubscription>>();
  readonly #broadcast: Broadcast;
  readonly #counter: Counter<'type'>;
  #wakes = 0;

  constructor(broadcast: Broadcast, counter: Counter<'type'>) {
    this.#broadcast = broadcast;
    this.#counter = counter;
  }

  /** How often streams were woken so far, of any project. */
  get wakes(): number {
    return this.#wakes;
  }

  /** The number of open subscriptions. */
  get count(): number {
    return [...this.#subscriptions.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** The projects that have subscriptions. */
  get watched(): string[] {
    return [...this.#subscriptions.keys()];
  }

  /** Call it after the commit. */
  notify(events: readonly Announced[]): void {
    if (events.length === 0) return;
    for (const { type } of events) this.#counter.inc({ type });
    const distinct = [...new Set(events.map(({ projectId }) => projectId))];
    this.wake(distinct);
    this.#broadcast.send(distinct);
  }

  /** Wakes the subscriptions of this process only. */
  wake(projectIds: readonly string[]): void {
    this.#wakes += 1;
    for (const id of projectIds) for (const subscription of this.#subscriptions.get(id) ?? []) subscription.wake();
  }

  subscribe(projectId: string): ProjectSubscription {
    this.#broadcast.listen();
    const others = this.#subscriptions.get(projectId) ?? new Set();
    this.#subscriptions.set(projectId, others);
    const subscription = new ProjectSubscription(() => {
      others.delete(subscription);
      if (others.size === 0) this.#subscriptions.delete(projectId);
    });
    others.add(subscription);
    return subscription;
  }
}

export class ProjectSubscription implements Disposable {
  readonly #end: () => void;
  #isWoken = false;
  #resolve: (() => void) | null = null;

  constructor(end: () => void) {
    this.#end = end;
  }

  wake(): void {
    this.#isWoken = true;
    this.#resolve?.();
  }

  /** Resolves on the next call of `wake`, at once if it was called since the last wait, or after the timeout. Returns whether it was woken. */
  async wait(timeoutMs: number): Promise<boolean> {
    if (!this.#isWoken) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const timer = setTimeout(resolve, timeoutMs);
      await promise;
      clearTimeout(timer);
      this.#resolve = null;
    }
    const wasWoken = this.#isWoken;
    this.#isWoken = false;
    return wasWoken;
  }

  [Symbol.dispose](): void {
    this.#end();
  }
}
