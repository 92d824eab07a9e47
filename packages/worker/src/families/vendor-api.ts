import type { WorkerTask } from '@review/contract';
import type { z } from 'zod';
import type { KeyedAccount } from '../provider-settings.ts';
import type { AdapterContext } from './adapter-context.ts';
import type { Call } from './family.ts';
import { asReadRefusal, type Refusal, retryAfter, toStepError, type Vendor, wasSent } from './refusal.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed JSON; undefined if the body is not JSON. */
  body: unknown;
}

export interface VendorApi extends Vendor {
  baseUrl: string;
  headers: Record<string, string>;
  /** Returns the refusal in an answer of any status; null for a success. */
  refusalIn(answer: Answer): Refusal | null;
}

/** Describes an API that takes its key as a bearer token. */
export const bearerApi = (
  name: string,
  { apiKey, baseUrl }: KeyedAccount,
  { log }: Pick<AdapterContext, 'log'>,
  refusalIn: VendorApi['refusalIn'],
): VendorApi => ({
  name,
  secrets: [apiKey],
  log,
  baseUrl,
  headers: { authorization: `Bearer ${apiKey}` },
  refusalIn,
});

interface Request {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: unknown;
  /** Whether the provider bills the call. Without an answer it is AMBIGUOUS_SUBMIT, and is not simply retried. */
  paid?: boolean;
}

const MAX_BYTES = 8 * 1024 * 1024;

/** Calls a JSON API and returns the answer, validated by the schema. */
export async function callApi<T>(
  api: VendorApi,
  schema: z.ZodType<T>,
  { method = 'GET', path, body, paid = false }: Request,
  { task, signal }: Pick<Call, 'signal'> & { task?: WorkerTask },
): Promise<T> {
  const unanswered: Refusal = { type: paid ? 'AMBIGUOUS_SUBMIT' : 'TRANSIENT' };
  const answer = await send(api, { method, path, body }, signal).catch((error: unknown) => {
    throw toStepError(api, wasSent(error) ? unanswered : { type: 'TRANSIENT' }, task);
  });
  const read = api.refusalIn(answer) ?? refusalByStatus(answer);
  if (read !== null) {
    const refusal = paid ? read : asReadRefusal(read);
    const unknown = paid && refusal.type === 'TRANSIENT' && isUndecided(answer.status);
    const delayMs = retryAfter(answer.headers) ?? refusal.delayMs;
    throw toStepError(api, { ...refusal, type: unknown ? 'AMBIGUOUS_SUBMIT' : refusal.type, delayMs }, task);
  }
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  throw toStepError(api, { ...unanswered, words: 'its answer is not valid.' }, task);
}

async function send(
  { baseUrl, headers }: VendorApi,
  { method, path, body }: Required<Omit<Request, 'paid'>>,
  signal: AbortSignal,
): Promise<Answer> {
  const response = await fetch(baseUrl + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    // A redirect would send the key to another address than the configured one.
    redirect: 'error',
    signal,
  });
  return { status: response.status, headers: response.headers, body: parseJson(await textOf(response)) };
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ['', 0];
  for await (const bytes of response.body ?? []) {
    size += bytes.length;
    if (size > MAX_BYTES) throw new Error(`the answer has more than ${MAX_BYTES} bytes`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Maps an HTTP status that the adapter does not handle itself. */
export function refusalByStatus({ status }: Pick<Answer, 'status'>): Refusal | null {
  if (status >= 200 && status < 300) return null;
  if (status === 401 || status === 403) return { type: 'AUTH', words: `status ${status}` };
  if (status === 402) return { type: 'BALANCE', words: `status ${status}` };
  if (status === 429) return { type: 'RATE_LIMITED' };
  if (status >= 500 || status === 408 || status === 409) return { type: 'TRANSIENT' };
  return { type: 'UNKNOWN', words: `status ${status}` };
}

/** Statuses that do not say whether the provider accepted the submit. */
const isUndecided = (status: number): boolean => status >= 500 || status === 408 || status === 409 || status < 300;
