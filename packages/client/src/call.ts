import { takesBody } from '@review/contract';
import type { AppRoute } from '@ts-rest/core';
import { ApiProblem, isProblem } from './problem.ts';
import { limited, persist, type Try } from './retry.ts';

/** What can be said about one call. */
export interface CallOptions {
  /** Ends the call, and all waiting between its tries, with the signal's reason. */
  signal?: AbortSignal;
  /** How long a single try may take; a request that asks the service to wait gets that much more. */
  timeoutMs?: number;
  /** How often the call is tried again where that is safe. */
  retries?: number;
  /** Names the work of a POST or PATCH, so that it is done once whoever asks again, even another process. */
  idempotencyKey?: string;
}

/** A request in the terms of the contract. */
export interface AnyRequest {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** How a client reaches its service. */
export interface Line {
  baseUrl: string;
  token: string | (() => string | Promise<string>);
  fetch: typeof fetch;
  timeoutMs: number;
  retries: number;
  /** Whether the service knows Idempotency-Keys; without them a POST is never repeated. */
  keyed: boolean;
  /** Whether QUERY is sent as a POST, because something on the way does not know the method. */
  overrides: boolean;
}

/** Makes one call of the contract: answers the body of its success, throws an `ApiProblem` for everything else. */
export async function call(
  line: Line,
  route: AppRoute,
  request: AnyRequest = {},
  options: CallOptions = {},
): Promise<unknown> {
  const method: string = route.method;
  const writes = method === 'POST' || method === 'PATCH';
  const key = writes && line.keyed ? (options.idempotencyKey ?? newKey()) : undefined;
  const repeatable = !writes || key !== undefined;
  const signal = options.signal;
  const timeoutMs = (options.timeoutMs ?? line.timeoutMs) + waitMs(request);
  const url = addressOf(line, route, request);
  const content = contentOf(route, request);
  // A browser's own `fetch` refuses to be called as a method of something else.
  const { fetch } = line;

  const send = async (methodSent: string, extra: Record<string, string>): Promise<Answer> => {
    const token = typeof line.token === 'string' ? line.token : await line.token();
    const headers = new Headers({ ...extra, authorization: `Bearer ${token}` });
    if (content !== undefined) headers.set('content-type', 'application/json');
    if (key !== undefined) headers.set('idempotency-key', key);
    const sent = { method: methodSent, headers, body: content ?? null, signal: limited(signal, timeoutMs) };
    return read(await fetch(url, sent));
  };

  const attempt = async ({ uncertain }: Try): Promise<unknown> => {
    const answer = method === 'QUERY' ? await sendQuery(line, send) : await send(method, {});
    if (isSuccess(answer, route)) return answer.body;
    // What an earlier try may have deleted is not there any more.
    if (method === 'DELETE' && uncertain && answer.status === 404) return undefined;
    throw new ApiProblem(answer);
  };
  return persist(attempt, { retries: repeatable ? (options.retries ?? line.retries) : 0, signal });
}

interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Refusals of a method by something on the way that has never heard of it. */
const UNKNOWN_METHOD: readonly number[] = [400, 403, 405, 501];

async function sendQuery(
  line: Line,
  send: (method: string, headers: Record<string, string>) => Promise<Answer>,
): Promise<Answer> {
  if (!line.overrides) {
    const answer = await send('QUERY', {});
    if (!UNKNOWN_METHOD.includes(answer.status) || isProblem(answer.body)) return answer;
  }
  const answer = await send('POST', { 'x-http-method-override': 'QUERY' });
  // Remembered once the service itself has answered that way.
  if (answer.status === 200 || isProblem(answer.body)) line.overrides = true;
  return answer;
}

export async function read(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const type = headers.get('content-type') ?? '';
  if (status === 204) return { status, headers, body: undefined };
  const text = await response.text();
  if (!/^application\/(.+\+)?json\b/i.test(type)) return { status, headers, body: text };
  try {
    return { status, headers, body: JSON.parse(text) };
  } catch {
    return { status, headers, body: text };
  }
}

/** Whether the answer is the success that the route declares; a page of a proxy with the status 200 is none. */
function isSuccess({ status, body }: Answer, { responses }: AppRoute): boolean {
  const declared = responses[status];
  const isText = typeof declared === 'object' && declared !== null && 'contentType' in declared;
  return declared !== undefined && (status === 204 || (typeof body === 'string') === isText);
}

function addressOf({ baseUrl }: Line, { path }: AppRoute, { params = {}, query = {} }: AnyRequest): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(pathPart(name, params[name])));
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value));
  return baseUrl + filled + (asked.size > 0 ? `?${asked}` : '');
}

/** An id from elsewhere must not lead to another address. */
function pathPart(name: string, value = ''): string {
  if (!['', '.', '..'].includes(value)) return value;
  throw new TypeError(`params.${name} is "${value}", which names nothing.`);
}

function contentOf(route: AppRoute, { body }: AnyRequest): string | undefined {
  // Everything a list can be asked is optional, but the service wants to be asked in JSON.
  if (body === undefined && (route.method === 'DELETE' || !takesBody(route))) return undefined;
  return JSON.stringify(body ?? {});
}

/** `wait` asks the service to hold the answer. */
const waitMs = ({ query }: AnyRequest): number => {
  const wait = Number(query?.['wait'] ?? 0);
  return Number.isFinite(wait) ? wait * 1000 : 0;
};

/** Made by hand: `crypto.randomUUID` is missing on pages that came over plain HTTP. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
