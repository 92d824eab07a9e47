import type { Family, GenerationTask } from '@review/contract';
import { MEDIA_QUEUE, POLL_QUEUE, submitQueueOf } from '@review/contract/generation-task';
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import { type Failure, generate, type Steps } from '../pipeline.ts';
import { POLICIES, type StepPolicy } from '../policy.ts';

/** How soon a worker that died is noticed, whatever time its step had. */
const HEARTBEAT_SECONDS = 15;
/** A step ends by itself when its time is over; only where it cannot does the engine end it. */
const SLACK_SECONDS = 15;

/** The pipeline with every step an activity. What is kept in the history is the order of things, never their content. */
export async function runGeneration(task: GenerationTask): Promise<void> {
  await generate(task, activitiesOf(task.family), describe);
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('The generation was canceled.');
}

function activitiesOf(family: Family): Steps {
  const policy = POLICIES[family];
  const orders = submitQueueOf(family);
  // What is on its way comes to its end before the catch looks at what there is to undo.
  const toTheEnd = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;
  return {
    prepare: on(POLL_QUEUE, policy.prepare).prepare,
    submit: on(orders, policy.submit, toTheEnd).submit,
    awaitJob: on(POLL_QUEUE, policy.awaitJob).awaitJob,
    store: on(MEDIA_QUEUE, policy.store, toTheEnd).store,
    finish: on(POLL_QUEUE, policy.finish, toTheEnd).finish,
    abandon: (handed, reason) =>
      CancellationScope.nonCancellable(() => on(orders, policy.abandon).abandon(handed, reason)),
  };
}

/** Tries have no end here: the activity knows which of them count, and says when it was the last. */
const on = (taskQueue: string, policy: StepPolicy, cancellationType?: ActivityCancellationType) =>
  proxyActivities<Steps>({
    taskQueue,
    startToCloseTimeout: (policy.timeoutSeconds + SLACK_SECONDS) * 1000,
    heartbeatTimeout: HEARTBEAT_SECONDS * 1000,
    retry: { initialInterval: policy.firstDelayMs, maximumInterval: policy.mostDelayMs, backoffCoefficient: 2 },
    ...(cancellationType !== undefined && { cancellationType }),
  });

function describe(error: unknown): Failure {
  if (isCancellation(error)) return { type: 'INTERNAL', message: 'The workflow was canceled.' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) return { type: cause.type ?? 'INTERNAL', message: cause.message };
  return { type: 'INTERNAL', message: cause instanceof Error ? cause.message : String(cause) };
}
