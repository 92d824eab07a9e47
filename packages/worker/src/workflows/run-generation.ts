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
import { MAX_SECONDS, policyOf, type StepPolicy } from '../policy.ts';

/** How soon Temporal detects a dead worker, regardless of the step's timeout. */
const HEARTBEAT_SECONDS = 15;
/** A step aborts itself at its family's timeout; Temporal ends it this much after the longest one if it does not. */
const SLACK_SECONDS = 15;

/** Runs the pipeline with every step as an activity. The history holds ids and outcomes, never prompts or content. */
export async function runGeneration(task: GenerationTask): Promise<void> {
  await generate(task, activitiesOf(task.family), toFailure);
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('The generation was canceled.');
}

const policy = policyOf(MAX_SECONDS);

function activitiesOf(family: Family): Steps {
  const submitQueue = submitQueueOf(family);
  // A running activity finishes before `abandon` reads what to undo.
  const waitForEnd = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;
  return {
    prepare: on(POLL_QUEUE, policy.prepare).prepare,
    submit: on(submitQueue, policy.submit, waitForEnd).submit,
    awaitJob: on(POLL_QUEUE, policy.awaitJob).awaitJob,
    store: on(MEDIA_QUEUE, policy.store, waitForEnd).store,
    finish: on(POLL_QUEUE, policy.finish, waitForEnd).finish,
    abandon: (handed, reason) =>
      CancellationScope.nonCancellable(() => on(submitQueue, policy.abandon).abandon(handed, reason)),
  };
}

/** Unlimited retries for Temporal: the activity counts the attempts, and marks the last failure as non-retryable. */
const on = (taskQueue: string, policy: StepPolicy, cancellationType?: ActivityCancellationType) =>
  proxyActivities<Steps>({
    taskQueue,
    startToCloseTimeout: (policy.timeoutSeconds + SLACK_SECONDS) * 1000,
    heartbeatTimeout: HEARTBEAT_SECONDS * 1000,
    retry: { initialInterval: policy.firstDelayMs, maximumInterval: policy.maxDelayMs, backoffCoefficient: 2 },
    ...(cancellationType !== undefined && { cancellationType }),
  });

function toFailure(error: unknown): Failure {
  if (isCancellation(error)) return { type: 'INTERNAL', message: 'The workflow was canceled.' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) return { type: cause.type ?? 'INTERNAL', message: cause.message };
  return { type: 'INTERNAL', message: cause instanceof Error ? cause.message : String(cause) };
}
