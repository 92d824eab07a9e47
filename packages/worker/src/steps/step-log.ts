import { randomUUID } from 'node:crypto';
import type { StepRecord } from '@review/contract';
import type { UnsentStep } from '../pipeline.ts';

/** The maximum that the server accepts at once. */
const MAX_UNSENT = 100;
/** In characters. The server accepts 4000. */
const MAX_MESSAGE = 1000;

/** Not the system's clock, which may be set while a record waits. */
const clock = () => performance.timeOrigin + performance.now();

const toRecord = ({ endedAt, ...step }: UnsentStep): StepRecord => ({ ...step, ago: Math.max(0, clock() - endedAt) });

/**
 * One attempt at a step, and the records of earlier ones that the server does not have yet. Reports take them along, so that
 * recording costs no call of its own; repeating a report is safe, because the server ignores records that it knows.
 */
export class StepLog {
  readonly #id = randomUUID();
  readonly name: string;
  readonly attempt: number;
  readonly #started = clock();
  #unsent: UnsentStep[];
  #isRecorded = false;

  constructor(name: string, attempt: number, unsent: UnsentStep[] = []) {
    this.name = name;
    this.attempt = attempt;
    this.#unsent = unsent;
  }

  get milliseconds(): number {
    return clock() - this.#started;
  }

  /** The records to pass on to the next attempt or step. */
  get unsent(): UnsentStep[] {
    return this.#unsent;
  }

  /** Sends a report with the records. Keeps them if it fails. */
  async send<T>(report: (steps: StepRecord[]) => Promise<T>): Promise<T> {
    const steps = this.#unsent;
    const answer = await report(steps.map(toRecord));
    this.#unsent = this.#unsent.filter((step) => !steps.includes(step));
    return answer;
  }

  /** Sends the report that completes the step: the server records its success with it, or not at all. */
  async complete<T>(report: (steps: StepRecord[]) => Promise<T>): Promise<T> {
    const success = this.#record('SUCCEEDED', null);
    const answer = await this.send((steps) => report([...steps, toRecord(success)]));
    this.#isRecorded = true;
    return answer;
  }

  /** Adds the outcome of the attempt, unless the report that completed it has recorded it. */
  add(outcome: UnsentStep['outcome'], message: string | null): void {
    if (this.#isRecorded) return;
    this.#isRecorded = true;
    this.#unsent = [...this.#unsent, this.#record(outcome, message)].slice(-MAX_UNSENT);
  }

  #record(outcome: UnsentStep['outcome'], message: string | null): UnsentStep {
    return {
      id: this.#id,
      name: this.name,
      attempt: this.attempt,
      outcome,
      message: message?.slice(0, MAX_MESSAGE) ?? null,
      milliseconds: this.milliseconds,
      endedAt: clock(),
    };
  }
}
