import { setTimeout as delay } from 'node:timers/promises';
import { backOffMs } from '@review/client';
import { type GenerationTask, OPEN_GENERATION_STATUSES } from '@review/contract';
import type { Drain } from '../drain.ts';
import { ADAPTERS } from '../families/index.ts';
import { generate, type Handover, type Steps, type UnsentStep } from '../pipeline.ts';
import { type FamilyPolicy, policyOf, type StepPolicy } from '../policy.ts';
import { Semaphore } from '../semaphore.ts';
import { StepError, WAITING } from '../step-error.ts';
import { awaitJob } from '../steps/await-job.ts';
import { readTask, type StepContext } from '../steps/context.ts';
import { abandon, finish } from '../steps/finish.ts';
import { prepare } from '../steps/prepare.ts';
import { retryWhileUnavailable } from '../steps/retry-while-unavailable.ts';
import { StepLog } from '../steps/step-log.ts';
import { store } from '../steps/store.ts';
import { submit } from '../steps/submit.ts';
import { noteFailure, noteSuccess, type StepAnswer, toFailure } from './timeline.ts';
import { traceStep } from './trace-step.ts';

export interface EmbeddedOptions {
  worker: string;
  /** The maximum of concurrent tasks. */
  concurrency: number;
}

type Context = Omit<StepContext, 'signal' | 'steps'>;

const CLAIM_WAIT_SECONDS = 20;
/** The maximum that the server accepts. */
const MAX_CLAIM = 100;
/** Claims follow each other after at least this time, so that one claim takes what has arrived meanwhile. */
const CLAIM_INTERVAL_MS = 20;
/** A full worker claims again when this part of its slots is free, or after this time since the first was. */
const REFILL = { part: 0.25, withinMs: 200 };
const CLAIM_DELAYS = { firstDelayMs: 100, maxDelayMs: 5000 };
/** Shorter than a lease, so that the next renewal is in time. */
const RENEW_MS = 10_000;
/** How long a run that was aborted asks whether its generation has ended. */
const READ_MS = 60_000;
/** Concurrent submits. Bounds how many a crash can leave without a recorded answer. */
const MAX_SUBMITS = 4;

/** `soon` starts no new step but lets the running ones finish, so that no submit is left without an answer. `now` aborts them. */
export interface Stop {
  soon: AbortSignal;
  now: AbortSignal;
}

/** Claims open generations under a lease, except while the worker drains, and runs the pipeline of each, until `stop.soon` aborts. */
export async function runEmbedded(context: Context, options: EmbeddedOptions, stop: Stop, drain: Drain): Promise<void> {
  const { server, log, metrics } = context;
  const running = new Map<string, { epoch: number; lost: AbortController; done: Promise<void> }>();
  const submits = new Semaphore(MAX_SUBMITS);

  const start = (task: GenerationTask) => {
    // After an expired lease, the same worker can claim the same generation again.
    running.get(task.fileId)?.lost.abort();
    const lost = new AbortController();
    const signals = { soon: stop.soon, now: AbortSignal.any([stop.now, lost.signal]) };
    const done = metrics
      .during(task.family, () => runTask(context, submits, task, signals, stop.now, releaseLease))
      .catch((error: unknown) =>
        log.error(
          { err: error, file: task.fileId },
          'generation failed; another worker can claim it when the lease expires',
        ),
      )
      .finally(() => {
        if (running.get(task.fileId)?.lost === lost) running.delete(task.fileId);
        context.tasks.forget(task);
        // Another worker can then continue at once.
        return stop.soon.aborted && releaseLease(task);
      });
    running.set(task.fileId, { epoch: task.epoch, lost, done });
  };

  const releaseLease = ({ fileId, epoch }: GenerationTask) =>
    server
      .release({ params: { id: fileId }, body: { worker: options.worker, epoch } })
      .catch((error: unknown) => log.debug({ err: error, file: fileId }, 'lease was not released'));

  const renew = async (stopped: AbortSignal) => {
    const tasks = [...running].map(([fileId, { epoch }]) => ({ fileId, epoch }));
    if (tasks.length === 0) return;
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(RENEW_MS)]);
    const { data } = await server.renew({ body: { worker: options.worker, tasks } }, { signal });
    for (const { fileId, epoch } of tasks) {
      const held = running.get(fileId);
      // It may have been claimed again meanwhile.
      if (held?.epoch === epoch && data.lost.includes(fileId)) held.lost.abort();
    }
  };
  let [leaseSeconds, renewing]: [number, NodeJS.Timeout | undefined] = [0, undefined];
  const keepRenewing = (seconds: number) => {
    if (seconds === leaseSeconds) return;
    leaseSeconds = seconds;
    clearInterval(renewing);
    renewing = setInterval(
      () => {
        renew(stop.now).catch((error: unknown) => log.warn({ err: error }, 'leases were not renewed'));
      },
      (seconds * 1000) / 3,
    );
  };

  const waitForSlots = async () => {
    const anyEnd = () => Promise.race([...running.values()].map(({ done }) => done));
    await anyEnd();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), REFILL.withinMs);
    const isLate = new Promise((resolve) => late.signal.addEventListener('abort', resolve, { once: true }));
    const most = Math.min(MAX_CLAIM, options.concurrency * REFILL.part);
    while (!late.signal.aborted && options.concurrency - running.size < most) await Promise.race([anyEnd(), isLate]);
    clearTimeout(timer);
  };

  try {
    for (let failures = 0; !stop.soon.aborted; ) {
      const free = Math.min(MAX_CLAIM, options.concurrency - running.size);
      if (free <= 0) {
        await waitForSlots();
        continue;
      }
      await drain.waitUntilOver(stop.soon);
      if (stop.soon.aborted) break;
      try {
        const interval = delay(CLAIM_INTERVAL_MS, undefined, { signal: stop.soon }).catch(() => {});
        // Leases may have expired meanwhile: a claim of its own generations would abort their paid calls.
        if (failures > 0) await renew(stop.soon);
        const body = { worker: options.worker, most: free, wait: CLAIM_WAIT_SECONDS };
        const signal = AbortSignal.any([stop.soon, AbortSignal.timeout((CLAIM_WAIT_SECONDS + 10) * 1000)]);
        const { data } = await server.claim({ body }, { signal });
        keepRenewing(data.leaseSeconds);
        for (const { task, ...claim } of data.tasks) {
          context.tasks.remember(claim, task);
          start(claim);
        }
        await interval;
        failures = 0;
      } catch (error) {
        if (stop.soon.aborted) break;
        if (failures === 0) log.warn({ err: error }, 'server does not answer; retrying until it does');
        await delay(backOffMs(CLAIM_DELAYS, failures), undefined, { signal: stop.soon }).catch(() => {});
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
  submits: Semaphore,
  task: GenerationTask,
  stop: Stop,
  graceEnded: AbortSignal,
  releaseLease: (task: GenerationTask) => Promise<void>,
): Promise<void> {
  const policy = policyOf(ADAPTERS[task.family]);
  const step = <T extends StepAnswer>(
    name: keyof FamilyPolicy,
    unsent: UnsentStep[] | undefined,
    run: (context: StepContext) => Promise<T>,
    limit?: Limit,
  ) => retryStep(context, stop, task, { name, policy: policy[name], run, limit }, unsent);
  const steps: Steps = {
    prepare: (handed) => step('prepare', [], (inner) => prepare(inner, handed)),
    submit: (handed, stage, unsent) =>
      // The semaphore is held per attempt: a retry's back-off must not block other submits.
      step(
        'submit',
        unsent,
        (inner) => submit(inner, handed, stage),
        (work) => submits.run(work),
      ),
    awaitJob: (handed, stage, unsent) => step('awaitJob', unsent, (inner) => awaitJob(inner, handed, stage)),
    store: (handed, unsent) => step('store', unsent, (inner) => store(inner, handed)),
    finish: (handed, unsent) => step('finish', unsent, (inner) => finish(inner, handed)),
    async abandon(handed, reason) {
      if (reason.type === 'NOT_MINE') return releaseLease(handed);
      // A worker that stops does not fail the generation: another worker continues it.
      const stopped = stop.soon.aborted || stop.now.aborted;
      if (stopped && !(await hasEnded(context, handed, stop.soon))) return;
      const never = new AbortController().signal;
      const run = (inner: StepContext) => abandon(inner, handed, reason);
      const end = { name: 'abandon', policy: policy.abandon, run };
      await retryStep(context, { soon: never, now: graceEnded }, handed, end);
    },
  };
  await generate(task, steps, toFailure);
}

/** Whether the generation has ended without this run, by a cancel or its deadline. */
async function hasEnded(context: Context, task: GenerationTask, soon: AbortSignal): Promise<boolean> {
  const signal = AbortSignal.any([soon, AbortSignal.timeout(READ_MS)]);
  const read = await retryWhileUnavailable(signal, () => readTask(context, task)).catch(() => null);
  return read !== null && !OPEN_GENERATION_STATUSES.includes(read.status);
}

type Limit = <T>(work: () => Promise<T>) => Promise<T>;

interface Retried<T> {
  name: string;
  policy: StepPolicy;
  run: (context: StepContext) => Promise<T>;
  limit?: Limit | undefined;
}

/** Retries a step until it succeeds, fails permanently or has used up its attempts. Errors in `WAITING` do not count. */
async function retryStep<T extends StepAnswer>(
  context: Context,
  stop: Stop,
  task: GenerationTask,
  { name, policy, run, limit = (work) => work() }: Retried<T>,
  unsent: UnsentStep[] = [],
): Promise<T & Handover> {
  for (let [attempt, waits, steps] = [1, 0, new StepLog(name, 1, unsent)]; ; ) {
    try {
      const answer = await limit(() => {
        stop.soon.throwIfAborted();
        stop.now.throwIfAborted();
        steps = new StepLog(name, attempt, steps.unsent);
        const timeout = AbortSignal.timeout(policy.timeoutSeconds * 1000);
        const inner = { ...context, signal: AbortSignal.any([stop.now, timeout]), steps };
        return traceStep(task, steps, inner.signal, () => run(inner));
      });
      return noteSuccess(context, task, steps, answer);
    } catch (error) {
      stop.now.throwIfAborted();
      const known = error instanceof StepError ? error : null;
      if (known?.type !== 'NOT_READY') context.tasks.forget(task);
      if (known?.type === 'LOST' || known?.type === 'NOT_MINE' || error === stop.soon.reason) throw error;
      const waiting = known !== null && WAITING.has(known.type);
      if (known === null) context.log.warn({ err: error, file: task.fileId, step: name }, 'step failed');
      const giveUp = known?.retryable === false || (!waiting && attempt >= policy.attempts);
      const outcome = waiting ? 'WAITED' : giveUp ? 'FAILED' : 'RETRIED';
      await noteFailure(context, task, steps, outcome, toFailure(error).message);
      if (giveUp) throw error;
      const backoff = backOffMs(policy, waiting ? waits : attempt - 1);
      await delay(known?.delayMs ?? backoff, undefined, { signal: AbortSignal.any([stop.soon, stop.now]) });
      // An answer of the provider resets the count, so that a long job survives occasional errors.
      if (known?.type === 'NOT_READY') [attempt, waits] = [1, 0];
      else if (waiting) waits += 1;
      else attempt += 1;
    }
  }
}
