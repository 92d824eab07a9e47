import type { GoogleGenAI } from '@google/genai';
import type { WorkerTask } from '@review/contract';
import { z } from 'zod';
import type { Account, AccountReader, KeyedAccount } from '../provider-settings.ts';
import { StepError, type StepErrorType } from '../step-error.ts';
import { describeModels } from './account-models.ts';
import { entries, fields, text } from './answer-fields.ts';
import { loadOnce } from './load-once.ts';
import { asReadRefusal, type Refusal, toStepError, type Vendor, wasSent } from './refusal.ts';
import { vendorFetch } from './vendor-fetch.ts';

export const GOOGLE_KEY_SETTING = 'GEMINI_API_KEY';

export const readGoogleAccount = ({ keyed }: AccountReader): Account<KeyedAccount> =>
  keyed('GEMINI_API_KEY', 'GEMINI_BASE_URL', 'https://generativelanguage.googleapis.com');

const MAX_BYTES = 128 * 1024 * 1024;

/** Returns a lazy client: loading Google's library takes time and 30 MB of memory. */
export function googleClient({ apiKey, baseUrl }: KeyedAccount): () => Promise<GoogleGenAI> {
  return loadOnce(async () => {
    const { GoogleGenAI } = await import('@google/genai');
    // The library does not retry by default.
    return new GoogleGenAI({ apiKey, vertexai: false, httpOptions: { baseUrl, fetch: vendorFetch(MAX_BYTES) } });
  });
}

interface GoogleCall {
  task?: WorkerTask;
  /** Google bills `draw` (a picture in the answer) and `order` (a job). */
  kind: 'draw' | 'order' | 'look' | 'probe';
}

/** Makes one call by the library and maps its errors to step errors. */
export async function callGoogle<T>(vendor: Vendor, { task, kind }: GoogleCall, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StepError) throw error;
    const refusal = refusalOf(error, kind);
    throw toStepError(vendor, kind === 'look' ? asReadRefusal(refusal) : refusal, task);
  }
}

const Said = fields({
  message: text,
  status: text,
  details: entries({ retryDelay: text, violations: entries({ quotaId: text }) }),
});
const Body = z.object({ error: Said });
type GoogleError = Partial<NonNullable<z.infer<typeof Said>>>;

const HOUR_MS = 3_600_000;

function refusalOf(error: unknown, kind: GoogleCall['kind']): Refusal {
  const unknown = kind === 'draw' || kind === 'order' ? 'AMBIGUOUS_SUBMIT' : 'TRANSIENT';
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (!(error instanceof Error) || typeof status !== 'number') {
    return { type: wasSent(error) ? unknown : 'TRANSIENT' };
  }
  const said = saidIn(error.message);
  const words = said.message ?? `status ${status}`;
  const type = meaningOf(status) ?? (status >= 500 ? 'TRANSIENT' : 'UNKNOWN');
  if (type === 'RATE_LIMITED') return rateRefusal(said);
  if (status === 404 && kind === 'look') return { type: 'RESULT_EXPIRED', words };
  // An overloaded service has made no picture, but may have accepted a job.
  const isOverloaded = status === 503 && said.status === 'UNAVAILABLE' && kind !== 'order';
  if (type === 'TRANSIENT') return { type: isOverloaded ? type : unknown, words };
  if (type !== 'INVALID_INPUT') return { type, words };
  if (isAccess(said)) return { type: 'AUTH', words };
  return { type: isPolicy(words) ? 'CONTENT_POLICY' : type, words };
}

/** By HTTP status; `refusalOf` distinguishes the causes of a status by the message. */
const BY_STATUS: Partial<Record<number, StepErrorType>> = {
  400: 'INVALID_INPUT',
  401: 'AUTH',
  403: 'AUTH',
  404: 'AUTH',
  408: 'TRANSIENT',
  409: 'TRANSIENT',
  413: 'INVALID_INPUT',
  429: 'RATE_LIMITED',
  499: 'TRANSIENT',
  500: 'TRANSIENT',
  501: 'INVALID_INPUT',
  503: 'TRANSIENT',
  504: 'TRANSIENT',
};

export const meaningOf = (status: number): StepErrorType | undefined => BY_STATUS[status];

function saidIn(message: string): GoogleError {
  try {
    return Body.parse(JSON.parse(message)).error ?? {};
  } catch {
    return {};
  }
}

/** Maps a 429: a daily quota, or a retry delay of more than an hour, is an exhausted balance. */
function rateRefusal({ message, details = [] }: GoogleError): Refusal {
  const asked = details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay ?? '';
  // A delay of less than a second can arrive as `0s`, and is left to the back-off.
  const delayMs = /^\d+(\.\d+)?s$/.test(asked) ? Number.parseFloat(asked) * 1000 || undefined : undefined;
  const daily = details.some(({ violations }) => violations.some(({ quotaId = '' }) => /PerDay/.test(quotaId)));
  if (daily || (delayMs ?? 0) > HOUR_MS) return { type: 'BALANCE', words: message };
  return { type: 'RATE_LIMITED', delayMs };
}

/** Whether a refusal with status 400 is about the account, which only the operator can fix. */
const isAccess = ({ message = '', status }: GoogleError): boolean =>
  status === 'FAILED_PRECONDITION' || /API key (not valid|expired)|use case is currently not supported/i.test(message);

export const isPolicy = (words: string): boolean => /usage guidelines|usage polic|responsible ai|safety/i.test(words);

const Listed = z.object({ name: z.string() });

/** Checks that the account lists the wanted models. */
export function probeGoogle(
  vendor: Vendor,
  client: () => Promise<GoogleGenAI>,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  return callGoogle(vendor, { kind: 'probe' }, async () => {
    const { models } = await client();
    const listed = new Set<string>();
    for await (const model of await models.list({ config: { pageSize: 1000, abortSignal: signal } })) {
      listed.add(Listed.parse(model).name.replace(/^models\//, ''));
    }
    return describeModels(vendor, wanted, listed);
  });
}
