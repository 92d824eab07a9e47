import { type Contract, contract, type NOTHING, type Route, type SuccessOf } from '@review/contract';
import {
  type ApiFetcherArgs,
  type AppRoute,
  type AppRouteFunction,
  type ClientArgs,
  getRouteQuery,
  tsRestFetchApi,
} from '@ts-rest/core';
import type { z } from 'zod';
import { ApiProblem } from './problem.ts';

export interface ClientOptions {
  /** The address of the service, such as `https://review.example.com`. */
  baseUrl: string;
  /** An API key or an access token; a function is asked before every request. */
  token: string | (() => string | Promise<string>);
}

type Result<R extends AppRoute> =
  SuccessOf<R> extends typeof NOTHING ? void : SuccessOf<R> extends z.ZodType ? z.output<SuccessOf<R>> : string;

export type Call<R extends AppRoute> = (...request: Parameters<AppRouteFunction<R, ClientArgs>>) => Promise<Result<R>>;

/** Every room of the contract: `client.folders.create({ params: { id }, body: { name } })` answers the body of its success. */
export type Client = {
  [Room in keyof Contract]: {
    [Verb in keyof Contract[Room]]: Contract[Room][Verb] extends Route ? Call<Contract[Room][Verb]> : never;
  };
};

export function createClient(options: ClientOptions): Client {
  const rooms = Object.entries(contract).map(([room, routes]) => [room, callsOf(routes, options)]);
  // Built from the contract itself, name by name, which the type of `fromEntries` cannot show.
  return Object.fromEntries(rooms) as Client;
}

/** A function for each route, which answers the body of the success and throws an `ApiProblem` for everything else. */
export function callsOf(routes: Record<string, AppRoute>, { baseUrl, token }: ClientOptions) {
  const api = async (request: ApiFetcherArgs) => {
    const bearer = typeof token === 'string' ? token : await token();
    const answer = await tsRestFetchApi({
      ...request,
      headers: { ...request.headers, authorization: `Bearer ${bearer}` },
    });
    // ts-rest takes an empty answer for an empty file.
    return answer.status === 204 ? { ...answer, body: undefined } : answer;
  };
  return Object.fromEntries(
    Object.entries(routes).map(([verb, route]) => {
      const call = getRouteQuery(route, { baseUrl: baseUrl.replace(/\/+$/, ''), api });
      return [
        verb,
        async (request?: Parameters<typeof call>[0]) => {
          const answer = await call(request?.params ? { ...request, params: encoded(request.params) } : request);
          if (answer.status >= 200 && answer.status < 300) return answer.body;
          throw new ApiProblem(answer);
        },
      ];
    }),
  );
}

/** ts-rest puts ids into the path as they are: one from elsewhere must not lead to another address. */
const encoded = (params: Record<string, string>) =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, encodeURIComponent(value)]));
