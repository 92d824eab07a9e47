import type { GenerationTask } from '@review/contract';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { ADAPTERS } from '../families/index.ts';
import type { Handover, Steps, UnsentStep } from '../pipeline.ts';
import { type FamilyPolicy, policyOf } from '../policy.ts';
import { StepError, WAITING } from '../step-error.ts';
import { awaitJob } from '../steps/await-job.ts';
import type { StepContext } from '../steps/context.ts';
import { abandon, finish } from '../steps/finish.ts';
import { prepare } from '../steps/prepare.ts';
import { StepLog } from '../steps/step-log.ts';
import { store } from '../steps/store.ts';
import { submit } from '../steps/submit.ts';
import { noteFailure, noteSuccess, type StepAnswer, toFailure } from './timeline.ts';
import { traceStep } from './trace-step.ts';

type StepName = keyof FamilyPolicy;
type SharedContext = Omit<StepContext, 'signal' | 'steps'>;

const BEAT_MS = 4000;
/** How long a presumed-dead attempt may still record its answer, in addition to the heartbeat timeout. */
const RIVAL_MS = 20_000;

/**
 * Returns the steps as activities. Each makes one attempt; its failure says whether and when Temporal retries. `stop` ends
 * the attempts of a worker that stops.
 */
export function temporalActivities(context: SharedContext, stop: AbortSignal): Steps {
  const attempt = <T extends StepAnswer>(
    name: StepName,
    task: GenerationTask,
    unsent: UnsentStep[] | undefined,
    run: (context: StepContext) => Promise<T>,
  ) => context.metrics.during(task.family, () => attemptStep(context, stop, task, name, unsent, run));
  return {
    prepare: (task) => attempt('prepare', task, [], (inner) => prepare(inner, task)),
    submit: (task, stage, unsent) => attempt('submit', task, unsent, (inner) => submit(inner, task, stage)),
    awaitJob: (task, stage, unsent) => attempt('awaitJob', task, unsent, (inner) => awaitJob(inner, task, stage)),
    store: (task, unsent) => attempt('store', task, unsent, (inner) => store(inner, task)),
    finish: (task, unsent) => attempt('finish', task, unsent, (inner) => finish(inner, task)),
    async abandon(task, reason) {
      await attempt('abandon', task, [], (inner) => abandon(inner, task, reason));
    },
  };
}

async function attemptStep<T extends StepAnswer>(
  context: SharedContext,
  stop: AbortSignal,
  task: GenerationTask,
  name: StepName,
  unsent: UnsentStep[] | undefined,
  run: (context: StepContext) => Promise<T>,
): Promise<T & Handover> {
  const activity = Context.current();
  const { info, cancellationSignal: stopped, heartbeat } = activity;
  const { timeoutSeconds, attempts } = policyOf(ADAPTERS[task.family])[name];
  // Counts neither waits nor attempts whose worker died.
  const failures = readFailureCount(info.heartbeatDetails);
  const isLast = failures + 1 >= attempts;
  // An attempt that ended without a report timed out, but may still be running.
  const rivalMs = info.attempt - 1 > failures ? RIVAL_MS : undefined;
  const steps = new StepLog(name, info.attempt, unsent);
  const beating = setInterval(() => heartbeat(failures), BEAT_MS);
  try {
    const canceled = name === 'submit' ? unlessTimedOut(activity) : stopped;
    const signal = AbortSignal.any([canceled, stop, AbortSignal.timeout(timeoutSeconds * 1000)]);
    const answer = await traceStep(task, steps, signal, () => run({ ...context, signal, rivalMs, steps }));
    return noteSuccess(context, task, steps, answer);
  } catch (error) {
    // Rethrowing confirms the cancellation.
    stopped.throwIfAborted();
    // Does not count as a failure: another worker continues.
    if (stop.aborted) throw toApplicationFailure(new StepError('NOT_MINE', 'The worker stops.'), false);
    const failure = toApplicationFailure(error, isLast);
    const type = failure.type ?? 'INTERNAL';
    // The next attempt reads the details of the last heartbeat.
    if (!WAITING.has(type)) heartbeat(failures + 1);
    if (type === 'INTERNAL') context.log.warn({ err: error, file: task.fileId, step: name }, 'step failed');
    const outcome = failure.nonRetryable ? 'FAILED' : 'RETRIED';
    if (type !== 'NOT_READY') context.tasks.forget(task);
    if (type !== 'LOST')
      await noteFailure(context, task, steps, WAITING.has(type) ? 'WAITED' : outcome, failure.message);
    throw failure;
  } finally {
    clearInterval(beating);
  }
}

/**
 * Returns a signal for a cancellation, but not for a timeout of the attempt: a submit goes on then, because the provider may
 * have accepted it, and the next attempt waits for its answer.
 */
function unlessTimedOut(activity: Context): AbortSignal {
  const canceled = new AbortController();
  activity.cancellationSignal.addEventListener('abort', () => {
    const { timedOut = false, notFound = false } = activity.cancellationDetails ?? {};
    if (!timedOut && !notFound) canceled.abort(activity.cancellationSignal.reason);
  });
  return canceled.signal;
}

/** Failures that Temporal neither logs as errors nor counts in its metrics. */
const BENIGN: ReadonlySet<string> = new Set([...WAITING, 'LOST']);

/** Returns the failure with type and message only. Stack traces and causes stay out of the workflow history. */
export function toApplicationFailure(error: unknown, isLast: boolean): ApplicationFailure {
  const { type, message } = toFailure(error);
  const known = error instanceof StepError ? error : null;
  const failure = ApplicationFailure.create({
    type,
    message,
    nonRetryable: known?.retryable === false || (isLast && !WAITING.has(type)),
    // Temporal takes a delay of 0 as the end of the retries.
    ...(known?.delayMs && { nextRetryDelay: known.delayMs }),
    ...(BENIGN.has(type) && { category: ApplicationFailureCategory.BENIGN }),
  });
  failure.stack = undefined;
  return failure;
}

const readFailureCount = (details: unknown): number => (typeof details === 'number' ? details : 0);
