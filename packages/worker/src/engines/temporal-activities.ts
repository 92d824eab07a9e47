import type { GenerationTask } from '@review/contract';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Steps } from '../pipeline.ts';
import { type FamilyPolicy, POLICIES } from '../policy.ts';
import { StepError, WAITING } from '../step-error.ts';
import { awaitJob } from '../steps/await-job.ts';
import type { StepContext } from '../steps/context.ts';
import { abandon, finish } from '../steps/finish.ts';
import { prepare } from '../steps/prepare.ts';
import { store } from '../steps/store.ts';
import { submit } from '../steps/submit.ts';
import { type Attempt, describe, recordStep } from './timeline.ts';

type StepName = keyof FamilyPolicy;
type SharedContext = Omit<StepContext, 'signal'>;

const BEAT_MS = 4000;
/** Beyond the heartbeats that were missed already. */
const RIVAL_MS = 20_000;

/** The steps as Temporal calls them: one try each, whose failure says whether and when to try again. */
export function temporalActivities(context: SharedContext): Steps {
  const activity =
    <Rest extends unknown[], T>(
      name: StepName,
      run: (context: StepContext, task: GenerationTask, ...rest: Rest) => Promise<T>,
    ) =>
    (task: GenerationTask, ...rest: Rest) =>
      context.metrics.during(task.family, () => tryOnce(context, task, name, (inner) => run(inner, task, ...rest)));
  return {
    prepare: activity('prepare', prepare),
    submit: activity('submit', submit),
    awaitJob: activity('awaitJob', awaitJob),
    store: activity('store', store),
    finish: activity('finish', finish),
    abandon: activity('abandon', abandon),
  };
}

async function tryOnce<T>(
  context: SharedContext,
  task: GenerationTask,
  name: StepName,
  run: (context: StepContext) => Promise<T>,
): Promise<T> {
  const { info, cancellationSignal: stopped, heartbeat } = Context.current();
  const { timeoutSeconds, attempts } = POLICIES[task.family][name];
  // Only failures that count: neither waiting nor a worker that died on the way uses up tries.
  const failures = countOf(info.heartbeatDetails);
  const isLast = failures + 1 >= attempts;
  // A try that ended without telling so was taken for dead, and may not be.
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
    // Thrown on, it tells Temporal that the step did stop; where only the worker stops, another one goes on.
    stopped.throwIfAborted();
    const failure = failureOf(error, isLast);
    const type = failure.type ?? 'INTERNAL';
    // What is told with the last beat is there at the next try.
    if (!WAITING.has(type)) heartbeat(failures + 1);
    if (type === 'INTERNAL') context.log.warn({ err: error, file: task.fileId, step: name }, 'a step failed');
    const outcome = failure.nonRetryable ? 'FAILED' : 'RETRIED';
    if (type !== 'LOST') await record(WAITING.has(type) ? 'WAITED' : outcome, failure.message);
    throw failure;
  } finally {
    clearInterval(beating);
  }
}

/** Nothing that anybody should be woken for. */
const BENIGN: ReadonlySet<string> = new Set([...WAITING, 'LOST']);

/** Only the type and the message leave: nothing else of an error is fit to be kept in a history. */
export function failureOf(error: unknown, isLast: boolean): ApplicationFailure {
  const { type, message } = describe(error);
  const known = error instanceof StepError ? error : null;
  const failure = ApplicationFailure.create({
    type,
    message,
    nonRetryable: known?.retryable === false || (isLast && !WAITING.has(type)),
    // To Temporal, a delay of 0 is no delay that was chosen but the end of the tries.
    ...(known?.delayMs && { nextRetryDelay: known.delayMs }),
    ...(BENIGN.has(type) && { category: ApplicationFailureCategory.BENIGN }),
  });
  failure.stack = undefined;
  return failure;
}

const countOf = (details: unknown): number => (typeof details === 'number' ? details : 0);
