import type { WorkerTask } from '@review/contract';
import type { Logger } from 'pino';
import { StepError, type StepErrorType } from '../step-error.ts';

/** A provider's refusal, as its adapter reads it from the answer. */
export interface Refusal {
  /** `UNKNOWN`: a 4xx without a documented code. It fails a submit, but not a poll: the job may still be running. */
  type: StepErrorType | 'UNKNOWN';
  /** The provider's message, not redacted yet. */
  words?: string | undefined;
  delayMs?: number | undefined;
}

/** The provider's name in messages, and what its messages must not reveal. */
export interface Vendor {
  name: string;
  /** Redacted from every message. */
  secrets: readonly string[];
  log: Logger;
}

/** The provider refused the account of this service, not the request. */
export class AccountRefusal extends StepError {
  /** The provider's message, for the operator only. */
  readonly said: string;

  constructor(type: StepErrorType, message: string, said: string) {
    super(type, message);
    this.said = said;
  }
}

const OPERATOR_MESSAGES: Partial<Record<StepErrorType, string>> = {
  AUTH: 'does not accept the key of this service',
  BALANCE: 'reports that the balance of this service is used up',
};

const USER_MESSAGES: Partial<Record<StepErrorType, string>> = {
  CONTENT_POLICY: 'refuses the content',
  INVALID_INPUT: 'does not accept the request',
  NOT_READY: 'has the job but does not list it yet',
  RATE_LIMITED: 'is busy',
  TRANSIENT: 'is not available',
  AMBIGUOUS_SUBMIT: 'did not confirm whether it accepted the request',
  RESULT_EXPIRED: 'no longer has the result',
  PROVIDER_FAILED: 'failed',
};

/** Creates the error to throw. The reason for a refusal of the account goes to the log, not to the user. */
export function toStepError(vendor: Vendor, { type: read, words, delayMs }: Refusal, task?: WorkerTask): StepError {
  const type = read === 'UNKNOWN' ? 'INVALID_INPUT' : read;
  const said = words === undefined ? '' : redact(words, [...vendor.secrets, task?.prompt ?? '']);
  const problem = OPERATOR_MESSAGES[type];
  if (problem !== undefined) {
    vendor.log.error({ provider: vendor.name, said, file: task?.fileId }, `the provider ${problem}`);
    const message = `${vendor.name} ${problem}. Ask the operator, who finds the reason in the worker's log.`;
    return new AccountRefusal(type, message, said || problem);
  }
  const what = `${vendor.name} ${USER_MESSAGES[type] ?? 'failed'}`;
  return new StepError(type, said === '' ? `${what}.` : `${what}: ${said}`, delayMs);
}

/** Maps UNKNOWN to TRANSIENT for calls that submit nothing, so that they are retried until the deadline. */
export const asReadRefusal = (refusal: Refusal): Refusal =>
  refusal.type === 'UNKNOWN' ? { ...refusal, type: 'TRANSIENT' } : refusal;

const FINAL: ReadonlySet<StepErrorType | undefined> = new Set(['CONTENT_POLICY', 'INVALID_INPUT', 'BALANCE']);

/** Maps transient types to PROVIDER_FAILED, because a job that has ended cannot be retried. */
export const asFinalType = (type: StepErrorType | undefined): StepErrorType =>
  type !== undefined && FINAL.has(type) ? type : 'PROVIDER_FAILED';

const MAX_MESSAGE_CHARACTERS = 300;
/** Longer messages are cut before redaction, to bound the time of the regular expressions. */
const MAX_INPUT_CHARACTERS = 4000;

/** Shorter secrets are not redacted: they would match in too many places. */
const MIN_REDACTED_CHARACTERS = 4;

/** Returns a provider's message in one line, with URLs, keys and the hidden texts redacted. */
export function redact(words: string, hidden: readonly string[] = []): string {
  let text = toOneLine(words.slice(0, MAX_INPUT_CHARACTERS).replaceAll('\\n', ' ').replaceAll('\\"', '"'));
  // The provider's copy of the prompt has its own names in place of references.
  const pieces = hidden.flatMap((each) => each.split(/<#\w+>/)).map(toOneLine);
  for (const piece of pieces) if (piece.length >= MIN_REDACTED_CHARACTERS) text = text.replaceAll(piece, '[…]');
  return text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '[address]')
    .replace(/\bdata:[\w/+.-]+;base64,\S+/gi, '[data]')
    .replace(/\b(?:(?:sk|msy|key)[-_]|bearer )(?=\S*[\d*])[\w*.-]{8,}/gi, '[key]')
    .slice(0, MAX_MESSAGE_CHARACTERS);
}

const toOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Whether the request may have reached the provider. */
export function wasSent(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  // One error per address of a host with several.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.some(wasSent);
  if ('code' in error && 'syscall' in error) return saysItWasSent(`${error.syscall} ${error.code}`);
  return wasSent(error.cause);
}

/** Errors while connecting. The same codes on an open connection do not prove that nothing was sent. */
const NEVER_SENT = /\b(connect|getaddrinfo) (ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b/;

/** Like `wasSent`, for libraries that keep only the message of a failed connection. */
export const saysItWasSent = (words: string): boolean => !NEVER_SENT.test(words);

/** Caps the delay below the limit of timers; after it, the provider can ask for another. */
const MAX_WAIT_MS = 3_600_000;

/** Returns the delay of a Retry-After header in milliseconds, given in seconds or as a date. None, or a past one, leaves it to the back-off. */
export function retryAfter(headers: { get(name: string): string | null }): number | undefined {
  const asked = headers.get('retry-after');
  if (asked === null) return undefined;
  const milliseconds = /^\d+(\.\d+)?$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - Date.now();
  return milliseconds > 0 ? Math.min(MAX_WAIT_MS, milliseconds) : undefined;
}
