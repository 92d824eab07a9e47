import type { GenerationErrorCode } from '@review/contract';

/** Every step error, with the generation's error code once the retries are used up. */
export const STEP_ERRORS = {
  /** The provider is still working on the job. */
  NOT_READY: { code: 'PROVIDER_TIMEOUT', retryable: true },
  RATE_LIMITED: { code: 'PROVIDER_UNAVAILABLE', retryable: true },
  TRANSIENT: { code: 'PROVIDER_UNAVAILABLE', retryable: true },
  /** The provider may have accepted and billed the call. It is not repeated without a check. */
  AMBIGUOUS_SUBMIT: { code: 'SUBMIT_OUTCOME_UNKNOWN', retryable: true },
  SUBMIT_OUTCOME_UNKNOWN: { code: 'SUBMIT_OUTCOME_UNKNOWN', retryable: false },
  INVALID_INPUT: { code: 'PROVIDER_REJECTED', retryable: false },
  CONTENT_POLICY: { code: 'MODERATED', retryable: false },
  AUTH: { code: 'PROVIDER_AUTH', retryable: false },
  BALANCE: { code: 'PROVIDER_QUOTA', retryable: false },
  PROVIDER_FAILED: { code: 'PROVIDER_REJECTED', retryable: false },
  RESULT_EXPIRED: { code: 'RESULT_EXPIRED', retryable: false },
  ATTACHMENT_UNREADABLE: { code: 'ATTACHMENT_UNREADABLE', retryable: false },
  CONFIG_INVALID: { code: 'CONFIG_INVALID', retryable: false },
  /** Retried, because space may be freed. At the deadline the generation fails with this code. */
  STORAGE_FULL: { code: 'STORAGE_FULL', retryable: true },
  /** The provider returned the result, but it could not be stored. Not retried: a new submit would be billed again. */
  RESULT_LOST: { code: 'STORAGE_FULL', retryable: false },
  /** An earlier attempt that was presumed dead holds the submit. This attempt waits for its answer. */
  RIVAL: { code: 'INTERNAL', retryable: true },
  /** This worker lacks the key of the required provider, or stops. Another worker continues. */
  NOT_MINE: { code: 'INTERNAL', retryable: true },
  /** The generation has ended, or another worker holds it. Nothing is left to do. */
  LOST: { code: 'INTERNAL', retryable: false },
  /** The server or the storage of this service does not answer. Retried until it does. */
  AWAY: { code: 'INTERNAL', retryable: true },
  INTERNAL: { code: 'INTERNAL', retryable: true },
} as const satisfies Record<string, { code: GenerationErrorCode; retryable: boolean }>;

export type StepErrorType = keyof typeof STEP_ERRORS;

/** Errors that do not count as attempts: they pass by themselves, or the generation's deadline ends them. */
export const WAITING: ReadonlySet<string> = new Set<StepErrorType>([
  'NOT_READY',
  'RATE_LIMITED',
  'AWAY',
  'STORAGE_FULL',
  'RIVAL',
  'NOT_MINE',
]);

export class StepError extends Error {
  override name = 'StepError';
  readonly type: StepErrorType;
  /** The delay before the next attempt; undefined for the step's own back-off. */
  readonly delayMs: number | undefined;

  constructor(type: StepErrorType, message: string, delayMs?: number) {
    super(message);
    this.type = type;
    this.delayMs = delayMs;
  }

  get retryable(): boolean {
    return STEP_ERRORS[this.type].retryable;
  }
}

export const isStepErrorType = (type: string): type is StepErrorType => Object.hasOwn(STEP_ERRORS, type);
