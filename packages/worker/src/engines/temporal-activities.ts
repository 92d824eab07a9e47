import type { GenerationTask } from '@review/contract';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { ADAPTERS } from '../families/index.ts';
import type { Steps } from '../pipeline.ts';
import { type FamilyPolicy, policyOf } from '../policy.ts';
import { StepError, WAITING } from '../step-error.ts';
import { awaitJob } from '../steps/await-job.ts';
import type { StepContext } from '../steps/context.ts';
import { abandon, finish } from '../steps/finish.ts';
import { prepare } from '../steps/prepare.ts';
import { store } from '../steps/store.ts';
import { submit } from '../steps/submit.ts';
import { type Attempt, recordStep, toFailure } from './timeline.ts';

type StepName = keyof FamilyPolicy;
type SharedContext = Omit<StepContext, 'signal'>;

const BEAT_MS = 4000;
/** How long a presumed-dead attempt may still record its answer, in addition to the heartbeat timeout. */
const RIVAL_MS = 20_000;

/** Returns the steps as activities. Each makes one attempt; its failure says whether and when Temporal retries. */
export function temporalActivities(context: SharedContext): Steps {
  const activity =
    <Rest extends unknown[], T>(
      name: StepName,
      run: (context: StepContext, task: GenerationTask, ...rest: Rest) => Promise<T>,
    ) =>
    (task: GenerationTask, ...rest: Rest) =>
      context.metrics.during(task.family, () => attemptStep(context, task, name, (inner) => run(inner, task, ...rest)));
  return {
    prepare: activity('prepare', prepare),
    submit: activity('submit', submit),
    awaitJob: activity('awaitJob', awaitJob),
    store: activity('store', store),
    finish: activity('finish', finish),
    abandon: activity('abandon', abandon),
  };
}

async function attemptStep<T>(
  context: SharedContext,
  task: GenerationTask,
  name: StepName,
  run: (context: StepContext) => Promise<T>,
): Promise<T> {
  const { info, cancellationSignal: stopped, heartbeat } = Context.current();
  const { timeoutSeconds, attempts } = policyOf(ADAPTERS[task.family])[name];
  // Counts neither waits nor attempts whose worker died.
  const failures = readFailureCount(info.heartbeatDetails);
  const isLast = failures + 1 >= attempts;
  // An attempt that ended without a report timed out, but may still be running.
  const rivalMs = info.attempt - 1 > failures ? RIVAL_MS : 0;
  const started = performance.now();
  const record = (outcome: Attempt['outcome'], message: string | null) =>
    recordStep(context, task, {
      name,
      attempt: info.attempt,
      outcome,
      message,
      milliseconds: performance.now() - started,
    });
  const beating = setInterval(() => heartbeat(failures), BEAT_MS);
  try {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutSeconds * 1000)]);
    const answer = await run({ ...context, signal, rivalMs });
    await record('SUCCEEDED', null);
    return answer;
  } catch (error) {
    // Rethrowing confirms the cancellation. After a worker shutdown, Temporal retries on another worker.
    stopped.throwIfAborted();
    const failure = toApplicationFailure(error, isLast);
    const type = failure.type ?? 'INTERNAL';
    // The next attempt reads the details of the last heartbeat.
    if (!WAITING.has(type)) heartbeat(failures + 1);
    if (type === 'INTERNAL') context.log.warn({ err: error, file: task.fileId, step: name }, 'step failed');
    const outcome = failure.nonRetryable ? 'FAILED' : 'RETRIED';
    if (type !== 'LOST') await record(WAITING.has(type) ? 'WAITED' : outcome, failure.message);
    throw failure;
  } finally {
    clearInterval(beating);
  }
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
