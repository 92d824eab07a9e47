import { type AppRoute, FILE_CONTENT, takesBody } from '@review/contract';
import { ApiProblem, isProblem } from './problem.ts';
import { type Attempt, retryTransient, withTimeout } from './retry.ts';

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, including the delays between retries, with the signal's reason. */
  signal?: AbortSignal;
  /** The timeout of each attempt; the `wait` of a request is added. */
  timeoutMs?: number;
  /** The maximum of retries, made only where they are safe. */
  retries?: number;
  /** Makes a POST, PATCH or DELETE idempotent across processes: requests with the same key are carried out once. */
  idempotencyKey?: string;
}

/** The parameters, query and body of any route. */
export interface AnyRequest {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** How a client sends its requests. */
export interface Transport {
  baseUrl: string;
  token: string | (() => string | Promise<string>);
  fetch: typeof fetch;
  headers: () => Record<string, string>;
  timeoutMs: number;
  retries: number;
  /** Whether the service supports idempotency keys. Without them, POST, PATCH and DELETE are not retried. */
  sendsIdempotencyKeys: boolean;
  /** Whether QUERY is sent as a POST with a method override, for proxies that do not support QUERY. */
  overridesQuery: boolean;
}

/** Calls a route and returns the body of its success. Throws an `ApiProblem` for any other answer. */
export async function call(
  transport: Transport,
  route: AppRoute,
  request: AnyRequest = {},
  options: CallOptions = {},
): Promise<unknown> {
  const method: string = route.method;
  const takesKey = ['POST', 'PATCH', 'DELETE'].includes(method);
  const key = takesKey && transport.sendsIdempotencyKeys ? (options.idempotencyKey ?? newKey()) : undefined;
  const repeatable = !takesKey || key !== undefined;
  const signal = options.signal;
  const timeoutMs = (options.timeoutMs ?? transport.timeoutMs) + waitMs(request);
  const url = addressOf(transport, route, request);
  const content = contentOf(route, request);
  // A browser's `fetch` cannot be called as a method of another object.
  const { fetch } = transport;

  const send = async (methodSent: string, extra: Record<string, string>): Promise<Answer> => {
    const headers = new Headers(transport.headers());
    for (const [name, value] of Object.entries(extra)) headers.set(name, value);
    headers.set('authorization', `Bearer ${await tokenOf(transport)}`);
    if (content !== undefined) headers.set('content-type', 'application/json');
    if (key !== undefined) headers.set('idempotency-key', key);
    const sent = { method: methodSent, headers, body: content ?? null, signal: withTimeout(signal, timeoutMs) };
    const response = await fetch(url, sent);
    return isFile(response, route) ? readFile(response) : readAnswer(response);
  };

  const attempt = async ({ uncertain }: Attempt): Promise<unknown> => {
    const answer = method === 'QUERY' ? await sendQuery(transport, send) : await send(method, {});
    if (isSuccess(answer, route)) return answer.body;
    // 404 after an attempt without an answer: that attempt has deleted it.
    if (method === 'DELETE' && uncertain && answer.status === 404) return undefined;
    throw new ApiProblem(answer);
  };
  return retryTransient(attempt, { retries: repeatable ? (options.retries ?? transport.retries) : 0, signal });
}

export const tokenOf = async ({ token }: Transport): Promise<string> =>
  typeof token === 'string' ? token : await token();

interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Statuses of proxies that do not support the method QUERY. */
const UNKNOWN_METHOD: readonly number[] = [400, 403, 405, 501];

async function sendQuery(
  transport: Transport,
  send: (method: string, headers: Record<string, string>) => Promise<Answer>,
): Promise<Answer> {
  if (!transport.overridesQuery) {
    const answer = await send('QUERY', {});
    if (!UNKNOWN_METHOD.includes(answer.status) || isProblem(answer.body)) return answer;
  }
  const answer = await send('POST', { 'x-http-method-override': 'QUERY' });
  // Kept for later calls once the service itself has answered.
  if (answer.status === 200 || isProblem(answer.body)) transport.overridesQuery = true;
  return answer;
}

export async function readAnswer(response: Response): Promise<Answer> {
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

const contentTypeOf = ({ responses }: AppRoute, status: number): unknown => {
  const declared = responses[status];
  return typeof declared === 'object' && declared !== null && 'contentType' in declared ? declared.contentType : null;
};

/** Whether the answer is a file to save. What a proxy sends in its place, as an HTML page, is no attachment. */
const isFile = ({ status, headers }: Response, route: AppRoute) =>
  contentTypeOf(route, status) === FILE_CONTENT && /^attachment\b/i.test(headers.get('content-disposition') ?? '');

const readFile = async (response: Response): Promise<Answer> => {
  const { status, headers } = response;
  return { status, headers, body: await response.blob() };
};

/** Whether the answer is the declared success of the route. A proxy's HTML page with status 200 is not. */
function isSuccess({ status, body }: Answer, route: AppRoute): boolean {
  if (route.responses[status] === undefined) return false;
  const type = contentTypeOf(route, status);
  if (type === FILE_CONTENT) return body instanceof Blob;
  return status === 204 || (typeof body === 'string') === (type !== null);
}

export function addressOf({ baseUrl }: Transport, { path }: AppRoute, { params = {}, query = {} }: AnyRequest): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(pathPart(name, params[name])));
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value));
  return baseUrl + filled + (asked.size > 0 ? `?${asked}` : '');
}

/** Refuses values that would change the path, such as `..`. */
function pathPart(name: string, value = ''): string {
  if (!['', '.', '..'].includes(value)) return value;
  throw new TypeError(`params.${name} is "${value}"; it must be an id.`);
}

function contentOf(route: AppRoute, { body }: AnyRequest): string | undefined {
  // The filters of a list are optional, but the service requires a JSON body.
  if (body === undefined && (route.method === 'DELETE' || !takesBody(route))) return undefined;
  return JSON.stringify(body ?? {});
}

/** The time for which `wait` asks the service to hold the answer. */
const waitMs = ({ query }: AnyRequest): number => {
  const wait = Number(query?.['wait'] ?? 0);
  return Number.isFinite(wait) ? wait * 1000 : 0;
};

/** Not `crypto.randomUUID`, which is missing on pages served over plain HTTP. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
