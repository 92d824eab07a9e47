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

/** The timeouts of the steps that call a provider. */
export interface StepSeconds {
  /** Synchronous providers answer a submit with the result and need minutes; the others only create a job. */
  submitSeconds: number;
  /** For the download of the result from the provider and its upload to the storage. */
  storeSeconds: number;
}

/** The maximum of any family. Workflows use it, because they cannot import the adapters. */
export const MAX_SECONDS: StepSeconds = { submitSeconds: 300, storeSeconds: 900 };

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

export const policyOf = ({ submitSeconds, storeSeconds }: StepSeconds): FamilyPolicy => ({
  prepare: quick(30),
  submit: { ...quick(submitSeconds), attempts: 5 },
  awaitJob: untilDeadline(30),
  store: untilDeadline(storeSeconds),
  finish: { ...quick(30), attempts: 100 },
  abandon: { ...quick(30), attempts: 100 },
});
