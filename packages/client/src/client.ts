import { type Contract, contract, type NO_BODY, type Route, type SuccessOf } from '@review/contract';
import type { AppRoute } from '@ts-rest/core';
import type { z } from 'zod';
import { type AnyRequest, type CallOptions, call, type Line } from './call.ts';

export interface ClientOptions {
  /** The address of the service, such as `https://review.example.com`. */
  baseUrl: string;
  /** An API key or an access token; a function is asked before every request. */
  token: string | (() => string | Promise<string>);
  /** How long a single try may take, 30 seconds unless said; `Infinity` for no limit. */
  timeoutMs?: number;
  /** How often a call is tried again where that is safe, 5 times unless said. */
  retries?: number;
  /** What makes the requests, in place of the global `fetch`. */
  fetch?: typeof fetch;
  /** `override` sends lists as a POST from the start; `native` finds out by itself whether it has to. */
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
/** What may be left out altogether is optional. */
type Field<Name extends string, Value> =
  Record<never, never> extends Value
    ? { [Key in Name]?: Value }
    : undefined extends Value
      ? { [Key in Name]?: Value }
      : { [Key in Name]: Value };
type Query<R> = R extends { query: infer Shape extends z.ZodType } ? Field<'query', z.input<Shape>> : unknown;
type Body<R> = R extends { body: infer Shape extends z.ZodType } ? Field<'body', z.input<Shape>> : unknown;

/** What a call takes: `params` of the path, `query` and `body`, as far as its route has them. */
export type RequestOf<R extends AppRoute> = Simplify<Params<R> & Query<R> & Body<R>>;

/** What a call answers: the body of its success. */
export type ResultOf<R extends AppRoute> =
  SuccessOf<R> extends typeof NO_BODY ? void : SuccessOf<R> extends z.ZodType ? z.output<SuccessOf<R>> : string;

export type Call<R extends AppRoute> =
  Record<never, never> extends RequestOf<R>
    ? (request?: RequestOf<R>, options?: CallOptions) => Promise<ResultOf<R>>
    : (request: RequestOf<R>, options?: CallOptions) => Promise<ResultOf<R>>;

/** Every room of the contract: `client.folders.create({ params: { id }, body: { name } })` answers the body of its success. */
export type Client = {
  [Room in keyof Contract]: {
    [Verb in keyof Contract[Room]]: Contract[Room][Verb] extends Route ? Call<Contract[Room][Verb]> : never;
  };
};

export function createClient({ query = 'native', ...options }: ClientOptions): Client {
  const line = lineOf(options, { keyed: true, overrides: query === 'override' });
  const rooms = Object.entries(contract).map(([room, routes]) => [room, callsOf(routes, line)]);
  // Built from the contract itself, name by name, which the type of `fromEntries` cannot show.
  return Object.fromEntries(rooms) as Client;
}

export function lineOf(
  { baseUrl, token, timeoutMs = 30_000, retries = 5, fetch }: Omit<ClientOptions, 'query'>,
  manner: Pick<Line, 'keyed' | 'overrides'>,
): Line {
  if (!/^https?:/.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new TypeError(`baseUrl is the address of the service, such as https://review.example.com; not "${baseUrl}".`);
  }
  return {
    ...manner,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    token,
    timeoutMs,
    retries,
    // Looked up at each call, so that one that is replaced later is used.
    fetch: fetch ?? ((...request) => globalThis.fetch(...request)),
  };
}

/** A function for each route. */
export const callsOf = (routes: Record<string, AppRoute>, line: Line) =>
  Object.fromEntries(
    Object.entries(routes).map(([verb, route]) => [
      verb,
      (request?: AnyRequest, options?: CallOptions) => call(line, route, request, options),
    ]),
  );
