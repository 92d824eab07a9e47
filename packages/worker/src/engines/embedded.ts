import { setTimeout as delay } from 'node:timers/promises';
import type { GenerationTask } from '@review/contract';
import { generate, type Steps } from '../pipeline.ts';
import { type FamilyPolicy, POLICIES, type StepPolicy } from '../policy.ts';
import { StepError, WAITING } from '../step-error.ts';
import { awaitJob } from '../steps/await-job.ts';
import type { StepContext } from '../steps/context.ts';
import { abandon, finish } from '../steps/finish.ts';
import { prepare } from '../steps/prepare.ts';
import { store } from '../steps/store.ts';
import { submit } from '../steps/submit.ts';
import { type Attempt, describe, recordStep } from './timeline.ts';

interface EmbeddedOptions {
  worker: string;
  /** Generations that this process works on at once. */
  concurrency: number;
}

type Context = Omit<StepContext, 'signal'>;

const CLAIM_WAIT_SECONDS = 20;
/** Orders on their way at once: bounds what one crash can leave without an answer. */
const MOST_SUBMITS = 4;

/** `soon` lets a step that runs come to its end, so that no order is left without an answer; `now` does not. */
export interface Stop {
  soon: AbortSignal;
  now: AbortSignal;
}

/** Claims open generations under a lease and runs the pipeline over each, until told to stop. */
export async function runEmbedded(context: Context, options: EmbeddedOptions, stop: Stop): Promise<void> {
  const { server, log, metrics } = context;
  const running = new Map<string, { epoch: number; lost: AbortController; done: Promise<void> }>();
  const submits = new Turnstile(MOST_SUBMITS);

  const start = (task: GenerationTask) => {
    // A lease that ran out while the server was away can come back to the same worker.
    running.get(task.fileId)?.lost.abort();
    const lost = new AbortController();
    const signals = { soon: stop.soon, now: AbortSignal.any([stop.now, lost.signal]) };
    const done = metrics
      .during(task.family, () => runTask(context, submits, task, signals, stop.now, giveBack))
      .catch((error: unknown) => log.error({ err: error, file: task.fileId }, 'a generation was left to its lease'))
      .finally(() => {
        if (running.get(task.fileId)?.lost === lost) running.delete(task.fileId);
        // What a worker that stops leaves behind, another one goes on with at once.
        return stop.soon.aborted && giveBack(task);
      });
    running.set(task.fileId, { epoch: task.epoch, lost, done });
  };

  const giveBack = ({ fileId, epoch }: GenerationTask) =>
    server
      .release({ params: { id: fileId }, body: { worker: options.worker, epoch } })
      .catch((error: unknown) => log.debug({ err: error, file: fileId }, 'a lease was not given back'));

  const renew = async () => {
    if (running.size === 0) return;
    const tasks = [...running].map(([fileId, { epoch }]) => ({ fileId, epoch }));
    const { data } = await server.renew({ body: { worker: options.worker, tasks } });
    for (const fileId of data.lost) running.get(fileId)?.lost.abort();
  };
  let [leaseSeconds, renewing]: [number, NodeJS.Timeout | undefined] = [0, undefined];
  const keepRenewing = (seconds: number) => {
    if (seconds === leaseSeconds) return;
    leaseSeconds = seconds;
    clearInterval(renewing);
    renewing = setInterval(
      () => {
        renew().catch((error: unknown) => log.warn({ err: error }, 'leases could not be renewed'));
      },
      (seconds * 1000) / 3,
    );
  };

  try {
    for (let failures = 0; !stop.soon.aborted; ) {
      const most = Math.min(100, options.concurrency - running.size);
      if (most <= 0) {
        await Promise.race([...running.values()].map(({ done }) => done));
        continue;
      }
      try {
        const body = { worker: options.worker, most, wait: CLAIM_WAIT_SECONDS };
        const signal = AbortSignal.any([stop.soon, AbortSignal.timeout((CLAIM_WAIT_SECONDS + 10) * 1000)]);
        const { data } = await server.claim({ body }, { signal });
        keepRenewing(data.leaseSeconds);
        data.tasks.forEach(start);
        failures = 0;
      } catch (error) {
        if (stop.soon.aborted) break;
        if (failures === 0) log.warn({ err: error }, 'the server does not answer; trying until it does');
        await delay(Math.min(5000, 100 * 2 ** failures), undefined, { signal: stop.soon }).catch(() => {});
        failures += 1;
      }
    }
    await Promise.allSettled([...running.values()].map(({ done }) => done));
  } finally {
    clearInterval(renewing);
  }
}

async function runTask(
  context: Context,
  submits: Turnstile,
  task: GenerationTask,
  stop: Stop,
  graceOver: AbortSignal,
  giveBack: (task: GenerationTask) => Promise<void>,
): Promise<void> {
  const policy = POLICIES[task.family];
  const step =
    <Rest extends unknown[], T>(
      name: keyof FamilyPolicy,
      run: (context: StepContext, task: GenerationTask, ...rest: Rest) => Promise<T>,
      pass?: Pass,
    ) =>
    (handed: GenerationTask, ...rest: Rest) =>
      persist(context, stop, handed, name, policy[name], (inner) => run(inner, handed, ...rest), pass);
  const steps: Steps = {
    prepare: step('prepare', prepare),
    // By the try: one that waits for a provider must not keep the others out.
    submit: step('submit', submit, (work) => submits.pass(work)),
    awaitJob: step('awaitJob', awaitJob),
    store: step('store', store),
    finish: step('finish', finish),
    async abandon(handed, reason) {
      if (reason.type === 'NOT_MINE') return giveBack(handed);
      // A worker that stops leaves the generation to the next one, which goes on where this one was.
      const stopped = stop.soon.aborted || stop.now.aborted;
      if (stopped && !(await isCanceled(context, handed))) return;
      const never = new AbortController().signal;
      await persist(context, { soon: never, now: graceOver }, handed, 'abandon', policy.abandon, (inner) =>
        abandon(inner, handed, reason),
      );
    },
  };
  await generate(task, steps, describe);
}

async function isCanceled({ server }: Context, { fileId, epoch }: GenerationTask): Promise<boolean> {
  const read = await server.getTask({ params: { id: fileId }, query: { epoch } }).catch(() => null);
  return read !== null && read.data.status === 'CANCELED';
}

type Pass = <T>(work: () => Promise<T>) => Promise<T>;

/** Tries a step until it holds, fails for good, or has used up its tries; waiting for a provider uses up none. */
async function persist<T>(
  context: Context,
  stop: Stop,
  task: GenerationTask,
  name: string,
  policy: StepPolicy,
  run: (context: StepContext) => Promise<T>,
  pass: Pass = (work) => work(),
): Promise<T> {
  for (let [attempt, waits] = [1, 0]; ; ) {
    let started = performance.now();
    const record = (outcome: Attempt['outcome'], message: string | null) =>
      recordStep(context, task, { name, attempt, outcome, message, milliseconds: performance.now() - started });
    try {
      const answer = await pass(() => {
        stop.soon.throwIfAborted();
        stop.now.throwIfAborted();
        started = performance.now();
        const timeout = AbortSignal.timeout(policy.timeoutSeconds * 1000);
        return run({ ...context, signal: AbortSignal.any([stop.now, timeout]) });
      });
      await record('SUCCEEDED', null);
      return answer;
    } catch (error) {
      stop.now.throwIfAborted();
      const known = error instanceof StepError ? error : null;
      if (known?.type === 'LOST' || known?.type === 'NOT_MINE' || error === stop.soon.reason) throw error;
      const waiting = known !== null && WAITING.has(known.type);
      if (known === null) context.log.warn({ err: error, file: task.fileId, step: name }, 'a step failed');
      const giveUp = known?.retryable === false || (!waiting && attempt >= policy.attempts);
      await record(waiting ? 'WAITED' : giveUp ? 'FAILED' : 'RETRIED', describe(error).message);
      if (giveUp) throw error;
      const backoff = Math.min(policy.mostDelayMs, policy.firstDelayMs * 2 ** (waiting ? waits : attempt - 1));
      await delay(known?.delayMs ?? backoff, undefined, { signal: AbortSignal.any([stop.soon, stop.now]) });
      // A provider that answers is well again: hours of work are not ended by a few errors in between.
      if (known?.type === 'NOT_READY') [attempt, waits] = [1, 0];
      else if (waiting) waits += 1;
      else attempt += 1;
    }
  }
}

/** Lets a few through at once, the others in turn. */
class Turnstile {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
