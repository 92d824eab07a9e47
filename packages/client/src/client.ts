import {
  type AppRoute,
  type Contract,
  contract,
  type FILE_CONTENT,
  type NO_BODY,
  type ProjectEvent,
  type Route,
  type SuccessOf,
} from '@review/contract';
import type { z } from 'zod';
import { type AnyRequest, type CallOptions, call, type Transport } from './call.ts';
import { type EventsOptions, type EventsReset, followEvents } from './events.ts';

export interface ClientOptions {
  /** The URL of the service, such as `https://review.example.com`. */
  baseUrl: string;
  /** An API key or an access token. A function is called before every request. */
  token: string | (() => string | Promise<string>);
  /** The timeout of each attempt. Default: 30 seconds; `Infinity` for none. */
  timeoutMs?: number;
  /** The maximum of retries, made only where they are safe. Default: 5. */
  retries?: number;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: typeof fetch;
  /** Returns further headers, such as `traceparent`. Called before every request to the service; not for uploads and downloads. */
  headers?: () => Record<string, string>;
  /** `override` sends QUERY as POST. `native`, the default, falls back to POST where a proxy refuses QUERY. */
  query?: 'native' | 'override';
}

type Simplify<T> = { [Key in keyof T]: T[Key] };
type ParamNames<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
type Params<R> = R extends { path: infer Path }
  ? [ParamNames<Path>] extends [never]
    ? unknown
    : { params: { [Name in ParamNames<Path>]: string } }
  : never;
/** Optional if its value may be empty or undefined. */
type Field<Name extends string, Value> =
  Record<never, never> extends Value
    ? { [Key in Name]?: Value }
    : undefined extends Value
      ? { [Key in Name]?: Value }
      : { [Key in Name]: Value };
type Query<R> = R extends { query: infer Shape extends z.ZodType } ? Field<'query', z.input<Shape>> : unknown;
type Body<R> = R extends { body: infer Shape extends z.ZodType } ? Field<'body', z.input<Shape>> : unknown;

/** The request of a call: `params`, `query` and `body`, as far as the route has them. */
export type RequestOf<R extends AppRoute> = Simplify<Params<R> & Query<R> & Body<R>>;

/** The result of a call: the body of its success. */
export type ResultOf<R extends AppRoute> =
  SuccessOf<R> extends typeof NO_BODY
    ? void
    : SuccessOf<R> extends z.ZodType
      ? z.output<SuccessOf<R>>
      : SuccessOf<R> extends { contentType: typeof FILE_CONTENT }
        ? Blob
        : string;

export type Call<R extends AppRoute> =
  Record<never, never> extends RequestOf<R>
    ? (request?: RequestOf<R>, options?: CallOptions) => Promise<ResultOf<R>>
    : (request: RequestOf<R>, options?: CallOptions) => Promise<ResultOf<R>>;

type Calls<Room> = { [Verb in keyof Room]: Room[Verb] extends Route ? Call<Room[Verb]> : never };

/** Yields the changes of a project in order, each once, across interruptions. */
type Follow = (project: string, options?: EventsOptions) => AsyncGenerator<ProjectEvent | EventsReset, void>;

/**
 * A function for every route: `client.folders.create({ params: { id }, body: { name } })` returns the body of its success.
 * `client.events(project)` follows the changes of a project.
 */
export type Client = { [Room in Exclude<keyof Contract, 'events'>]: Calls<Contract[Room]> } & {
  events: Follow & Omit<Calls<Contract['events']>, 'stream'>;
};

export function createClient({ query = 'native', ...options }: ClientOptions): Client {
  const transport = createTransport(options, { sendsIdempotencyKeys: true, overridesQuery: query === 'override' });
  const rooms = Object.entries(contract).map(([room, routes]) => [room, createCalls(routes, transport)]);
  const follow: Follow = (project, options) => followEvents(transport, project, options);
  const { stream: _, ...calls } = contract.events;
  // Built from the contract; `Object.fromEntries` loses the types.
  return { ...Object.fromEntries(rooms), events: Object.assign(follow, createCalls(calls, transport)) } as Client;
}

export function createTransport(
  { baseUrl, token, timeoutMs = 30_000, retries = 5, fetch, headers = () => ({}) }: Omit<ClientOptions, 'query'>,
  manner: Pick<Transport, 'sendsIdempotencyKeys' | 'overridesQuery'>,
): Transport {
  if (!/^https?:/.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new TypeError(
      `baseUrl is "${baseUrl}"; it must be the URL of the service, such as https://review.example.com.`,
    );
  }
  return {
    ...manner,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    token,
    timeoutMs,
    retries,
    headers,
    // Looked up at each call, so that a later replacement of the global `fetch` is used.
    fetch: fetch ?? ((...request) => globalThis.fetch(...request)),
  };
}

export const createCalls = (routes: Record<string, AppRoute>, transport: Transport) =>
  Object.fromEntries(
    Object.entries(routes).map(([verb, route]) => [
      verb,
      (request?: AnyRequest, options?: CallOptions) => call(transport, route, request, options),
    ]),
  );
