import type { Family } from '@review/contract';

/** How often and how long a step is tried. Plain data: both engines read it. */
export interface StepPolicy {
  /** Tries that count: a provider that is still at it, or says to come back later, costs none. Infinite: its deadline ends it. */
  attempts: number;
  timeoutSeconds: number;
  firstDelayMs: number;
  mostDelayMs: number;
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
  mostDelayMs: 30_000,
});

/** What is paid for is asked for until it is there, for as long as the generation may run. */
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

/** Providers that answer with the result at once need long for it; the others only take the order. */
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
