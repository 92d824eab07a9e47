import type { WorkerTask } from '@review/contract';
import type { Logger } from 'pino';
import { StepError, type StepErrorType } from '../step-error.ts';

/** Why a provider does not do what was asked, as its adapter reads the answer. */
export interface Refusal {
  /** `UNKNOWN`: a 4xx without a documented code. It refuses an order; a job that is asked about may still be running. */
  type: StepErrorType | 'UNKNOWN';
  /** In the provider's own words, which may hold anything. */
  words?: string | undefined;
  delayMs?: number | undefined;
}

/** A provider as the people of this service know it. */
export interface Vendor {
  name: string;
  /** Never shown, wherever they turn up. */
  secrets: readonly string[];
  log: Logger;
}

/** The provider refuses the account of this service, not the order. */
export class AccountRefusal extends StepError {
  /** The provider's words, which are for the operator. */
  readonly said: string;

  constructor(type: StepErrorType, message: string, said: string) {
    super(type, message);
    this.said = said;
  }
}

const FOR_THE_OPERATOR: Partial<Record<StepErrorType, string>> = {
  AUTH: 'does not accept the access that this service has',
  BALANCE: 'says that the account of this service is used up',
};

const FOR_THE_USER: Partial<Record<StepErrorType, string>> = {
  CONTENT_POLICY: 'refuses the content',
  INVALID_INPUT: 'does not take the request',
  NOT_READY: 'has the order but does not show it yet',
  RATE_LIMITED: 'is busy',
  TRANSIENT: 'is not available',
  AMBIGUOUS_SUBMIT: 'did not say whether it has taken the order',
  RESULT_EXPIRED: 'no longer has the result',
  PROVIDER_FAILED: 'failed',
};

/** The failure to throw. What only an operator can mend is told in the log, not to the user. */
export function refused(vendor: Vendor, { type: read, words, delayMs }: Refusal, task?: WorkerTask): StepError {
  const type = read === 'UNKNOWN' ? 'INVALID_INPUT' : read;
  const said = words === undefined ? '' : shown(words, [...vendor.secrets, task?.prompt ?? '']);
  const problem = FOR_THE_OPERATOR[type];
  if (problem !== undefined) {
    vendor.log.error({ provider: vendor.name, said, file: task?.fileId }, `the provider ${problem}`);
    const message = `${vendor.name} ${problem}. Whoever runs it finds the reason in the worker's log.`;
    return new AccountRefusal(type, message, said || problem);
  }
  const what = `${vendor.name} ${FOR_THE_USER[type] ?? 'failed'}`;
  return new StepError(type, said === '' ? `${what}.` : `${what}: ${said}`, delayMs);
}

/** The refusal of a call that orders nothing: what is not documented as an end is asked again until the deadline. */
export const ofRead = (refusal: Refusal): Refusal =>
  refusal.type === 'UNKNOWN' ? { ...refusal, type: 'TRANSIENT' } : refusal;

const FINAL: ReadonlySet<StepErrorType | undefined> = new Set(['CONTENT_POLICY', 'INVALID_INPUT', 'BALANCE']);

/** What would pass by itself in a call is a failure of a job that has ended: nothing is ordered again. */
export const ofEnded = (type: StepErrorType | undefined): StepErrorType =>
  type !== undefined && FINAL.has(type) ? type : 'PROVIDER_FAILED';

const MOST_WORDS = 300;
/** Looked at before anything is taken out: a provider may say a lot, and some of it slowly. */
const MOST_LOOKED_AT = 4000;

/** What is shorter says nothing of its own, and hiding it would hide everything else. */
const LEAST_HIDDEN = 4;

/** A provider's words without addresses, secrets and the prompt, which may all stand in them. */
export function shown(words: string, hidden: readonly string[] = []): string {
  let text = inOneLine(words.slice(0, MOST_LOOKED_AT).replaceAll('\\n', ' ').replaceAll('\\"', '"'));
  // The provider knows a prompt with its own names in the place of references.
  const pieces = hidden.flatMap((each) => each.split(/<#\w+>/)).map(inOneLine);
  for (const piece of pieces) if (piece.length >= LEAST_HIDDEN) text = text.replaceAll(piece, '[…]');
  return text
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '[address]')
    .replace(/\bdata:[\w/+.-]+;base64,\S+/gi, '[data]')
    .replace(/\b(?:(?:sk|msy|key)[-_]|bearer )(?=\S*[\d*])[\w*.-]{8,}/gi, '[key]')
    .slice(0, MOST_WORDS);
}

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Whether the request may have left this host. */
export function wasSent(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  // A host with several addresses fails once for each.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.some(wasSent);
  if ('code' in error && 'syscall' in error) return saysItWasSent(`${error.syscall} ${error.code}`);
  return wasSent(error.cause);
}

/** Only while a connection is made: the same codes can break one off that has carried the order. */
const NEVER_SENT = /\b(connect|getaddrinfo) (ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b/;

/** The same, where a library keeps of a failed connection only what it says. */
export const saysItWasSent = (words: string): boolean => !NEVER_SENT.test(words);

/** Timers cannot count to just any number, and whoever asks for more than this may be asked again. */
const LONGEST_WAIT_MS = 3_600_000;

/** How long an answer asks to wait, in seconds or until a date. */
export function retryAfter(headers: { get(name: string): string | null }): number | undefined {
  const asked = headers.get('retry-after');
  if (asked === null) return undefined;
  const milliseconds = /^\d+(\.\d+)?$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - Date.now();
  return Number.isFinite(milliseconds) ? Math.min(LONGEST_WAIT_MS, Math.max(0, milliseconds)) : undefined;
}
