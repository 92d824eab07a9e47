import type { GenerationTask, WorkerTask } from '@review/contract';

/** The URLs of attachments are valid for longer. A cancel is noticed by the next report, or after this time. */
const KNOWN_MS = 30_000;

interface Known {
  epoch: number;
  task: WorkerTask;
  until: number;
}

/**
 * The tasks as this worker has last read or changed them, so that not every step has to read its task. Another worker may
 * have changed a task under the same epoch: the server checks every report against the row.
 */
export class KnownTasks {
  readonly #tasks = new Map<string, Known>();

  find({ fileId, epoch }: GenerationTask): WorkerTask | undefined {
    const known = this.#tasks.get(fileId);
    return known?.epoch === epoch && performance.now() < known.until ? known.task : undefined;
  }

  remember({ fileId, epoch }: GenerationTask, task: WorkerTask): void {
    // The map is in order of time, so that the outdated ones come first.
    for (const [id, { until }] of this.#tasks) {
      if (performance.now() < until) break;
      this.#tasks.delete(id);
    }
    this.#tasks.delete(fileId);
    this.#tasks.set(fileId, { epoch, task, until: performance.now() + KNOWN_MS });
  }

  /** Notes a change that the server has made. It does not count as reading the task. */
  change(handed: GenerationTask, changeOf: (task: WorkerTask) => Partial<WorkerTask>): void {
    const task = this.find(handed);
    const known = this.#tasks.get(handed.fileId);
    if (task !== undefined && known !== undefined) known.task = { ...task, ...changeOf(task) };
  }

  forget({ fileId }: GenerationTask): void {
    this.#tasks.delete(fileId);
  }
}
