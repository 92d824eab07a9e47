import { setTimeout as delay } from 'node:timers/promises';
import type { GenerationStep, GenerationTask } from '@review/contract';
import { type Failure, generate, type Steps } from '../pipeline.ts';
import { type FamilyPolicy, POLICIES, type StepPolicy } from '../policy.ts';
import { StepError } from '../step-error.ts';
import { awaitJob } from '../steps/await-job.ts';
import type { StepContext } from '../steps/context.ts';
import { abandon, finish } from '../steps/finish.ts';
import { prepare } from '../steps/prepare.ts';
import { store } from '../steps/store.ts';
import { submit } from '../steps/submit.ts';

export interface EmbeddedOptions {
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
  const { server, log } = context;
  const running = new Map<string, { epoch: number; lost: AbortController; done: Promise<void> }>();
  const submits = new Turnstile(MOST_SUBMITS);
  let leaseMs = 30_000;

  const start = (task: GenerationTask) => {
    const lost = new AbortController();
    const signals = { soon: stop.soon, now: AbortSignal.any([stop.now, lost.signal]) };
    const done = runTask(context, submits, task, signals)
      .catch((error: unknown) => log.error({ err: error, file: task.fileId }, 'a generation was left to its lease'))
      .finally(() => running.delete(task.fileId));
    running.set(task.fileId, { epoch: task.epoch, lost, done });
  };

  const renew = async () => {
    if (running.size === 0) return;
    const tasks = [...running].map(([fileId, { epoch }]) => ({ fileId, epoch }));
    const { data } = await server.renew({ body: { worker: options.worker, tasks } });
    for (const fileId of data.lost) running.get(fileId)?.lost.abort();
  };
  const renewing = setInterval(() => {
    renew().catch((error: unknown) => log.warn({ err: error }, 'leases could not be renewed'));
  }, leaseMs / 3);

  try {
    for (let failures = 0; !stop.soon.aborted; ) {
      const most = Math.min(100, options.concurrency - running.size);
      if (most <= 0) {
        await Promise.race([...running.values()].map(({ done }) => done));
        continue;
      }
      try {
        const body = { worker: options.worker, most, wait: CLAIM_WAIT_SECONDS };
        const { data } = await server.claim({ body, fetchOptions: { signal: stop.soon } });
        leaseMs = data.leaseSeconds * 1000;
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

async function runTask(context: Context, submits: Turnstile, task: GenerationTask, stop: Stop): Promise<void> {
  const policy = POLICIES[task.family];
  const step =
    <Rest extends unknown[], T>(
      name: keyof FamilyPolicy,
      run: (context: StepContext, task: GenerationTask, ...rest: Rest) => Promise<T>,
    ) =>
    (handed: GenerationTask, ...rest: Rest) =>
      persist(context, stop, handed, name, policy[name], (inner) => run(inner, handed, ...rest));
  const steps: Steps = {
    prepare: step('prepare', prepare),
    submit: (handed, stage) => submits.pass(() => step('submit', submit)(handed, stage)),
    awaitJob: step('awaitJob', awaitJob),
    store: step('store', store),
    finish: step('finish', finish),
    async abandon(handed, reason) {
      // A worker that stops leaves the generation to its lease: the next one goes on where this one was.
      const stopped = stop.soon.aborted || stop.now.aborted;
      if (stopped && !(await isCanceled(context, handed))) return;
      const never = new AbortController().signal;
      await persist(context, { soon: never, now: never }, handed, 'abandon', policy.abandon, (inner) =>
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

/** Tries a step until it holds, fails for good, or has used up its tries; waiting for a provider uses up none. */
async function persist<T>(
  context: Context,
  stop: Stop,
  task: GenerationTask,
  name: string,
  policy: StepPolicy,
  run: (context: StepContext) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; ) {
    stop.soon.throwIfAborted();
    const started = performance.now();
    const record = (outcome: GenerationStep['outcome'], message: string | null) =>
      recordStep(context, task, { name, attempt, outcome, message, milliseconds: performance.now() - started });
    try {
      const timeout = AbortSignal.timeout(policy.timeoutSeconds * 1000);
      const answer = await run({ ...context, signal: AbortSignal.any([stop.now, timeout]) });
      await record('SUCCEEDED', null);
      return answer;
    } catch (error) {
      stop.now.throwIfAborted();
      const known = error instanceof StepError ? error : null;
      if (known?.type === 'LOST') throw error;
      const waits = known?.type === 'NOT_READY' || known?.type === 'RATE_LIMITED';
      const giveUp = known?.retryable === false || (!waits && attempt >= policy.attempts);
      if (!waits) await record(giveUp ? 'FAILED' : 'RETRIED', describe(error).message);
      if (giveUp) throw error;
      const backoff = Math.min(policy.mostDelayMs, policy.firstDelayMs * 2 ** (attempt - 1));
      await delay(known?.delayMs ?? backoff, undefined, { signal: AbortSignal.any([stop.soon, stop.now]) });
      if (!waits) attempt += 1;
    }
  }
}

/** The timeline is for people: that it cannot be written stops nothing. */
async function recordStep(
  { server, log }: Context,
  { fileId, epoch }: GenerationTask,
  step: {
    name: string;
    attempt: number;
    outcome: GenerationStep['outcome'];
    message: string | null;
    milliseconds: number;
  },
): Promise<void> {
  await server
    .recordStep({ params: { id: fileId }, body: { epoch, ...step } })
    .catch((error: unknown) => log.debug({ err: error }, 'a step was not recorded'));
}

function describe(error: unknown): Failure {
  if (error instanceof StepError) return { type: error.type, message: error.message };
  return { type: 'INTERNAL', message: error instanceof Error ? error.message : String(error) };
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
