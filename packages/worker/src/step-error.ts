import type { GenerationErrorCode } from '@review/contract';

/** What can go wrong in a step, and what becomes of the generation when it stays wrong. */
export const STEP_ERRORS = {
  /** The provider is still at it. */
  NOT_READY: { code: 'PROVIDER_TIMEOUT', retryable: true },
  RATE_LIMITED: { code: 'PROVIDER_UNAVAILABLE', retryable: true },
  TRANSIENT: { code: 'PROVIDER_UNAVAILABLE', retryable: true },
  /** The call may have been made and paid; it is never blindly made again. */
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
  /** There may be room again soon; if not, that is why there is no file. */
  STORAGE_FULL: { code: 'STORAGE_FULL', retryable: true },
  /** It was there and paid for, and could not be kept: a new one would be paid again. */
  RESULT_LOST: { code: 'STORAGE_FULL', retryable: false },
  /** The order is placed by an earlier attempt that was taken for dead: its answer is waited for. */
  RIVAL: { code: 'INTERNAL', retryable: true },
  /** It has to be made by a provider whose key this worker lacks: another worker goes on. */
  NOT_MINE: { code: 'INTERNAL', retryable: true },
  /** The generation ended or is somebody else's by now: nothing is left to do. */
  LOST: { code: 'INTERNAL', retryable: false },
  /** The service's own server or storage does not answer: it is waited for. */
  AWAY: { code: 'INTERNAL', retryable: true },
  INTERNAL: { code: 'INTERNAL', retryable: true },
} as const satisfies Record<string, { code: GenerationErrorCode; retryable: boolean }>;

export type StepErrorType = keyof typeof STEP_ERRORS;

/** These cost no try: they end by themselves, or the generation's deadline ends them. */
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
  /** How long to wait before the next try, where somebody said so. */
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
