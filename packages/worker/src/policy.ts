import type { Family } from '@review/contract';

/** The retry policy of a step, which both engines read. */
export interface StepPolicy {
  /** The maximum of attempts that count; errors in `WAITING` do not. With Infinity, the generation's deadline ends the step. */
  attempts: number;
  timeoutSeconds: number;
  firstDelayMs: number;
  maxDelayMs: number;
}

export interface FamilyPolicy {
  prepare: StepPolicy;
  submit: StepPolicy;
  awaitJob: StepPolicy;
  store: StepPolicy;
  finish: StepPolicy;
  abandon: StepPolicy;
}

const quick = (timeoutSeconds: number): StepPolicy => ({
  attempts: 10,
  timeoutSeconds,
  firstDelayMs: 200,
  maxDelayMs: 30_000,
});

/** Retries until the generation's deadline, because the result is already paid for. */
const untilDeadline = (timeoutSeconds: number): StepPolicy => ({
  ...quick(timeoutSeconds),
  attempts: Number.POSITIVE_INFINITY,
});

const policy = (submitSeconds: number, storeSeconds: number): FamilyPolicy => ({
  prepare: quick(30),
  submit: { ...quick(submitSeconds), attempts: 5 },
  awaitJob: untilDeadline(30),
  store: untilDeadline(storeSeconds),
  finish: { ...quick(30), attempts: 100 },
  abandon: { ...quick(30), attempts: 100 },
});

/** Submits of synchronous providers return the result and need minutes; the others only create a job. */
export const POLICIES: Record<Family, FamilyPolicy> = {
  document: policy(240, 60),
  'gpt-image': policy(300, 120),
  'gemini-image': policy(300, 120),
  seedance: policy(60, 900),
  kling: policy(60, 900),
  minimax: policy(60, 900),
  veo: policy(60, 900),
  meshy: policy(60, 600),
  hunyuan3d: policy(60, 600),
};
