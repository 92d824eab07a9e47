import {
  type Contract,
  contract,
  declaredFields,
  type Endpoint,
  type FieldError,
  fieldErrors,
  NO_BODY,
  type Route,
  successStatus,
  type WorkerApi,
  workerApi,
} from '@review/contract';
import { validateResponse } from '@ts-rest/core';
import { z } from 'zod';
import type { Config } from '../config/config.ts';
import type { VisibleSubject } from '../rooms/subjects.ts';
import { requireChangeable } from './authorize.ts';
import { isEventStream } from './event-stream.ts';
import { type Attempt, NOT_WRITING } from './idempotency.ts';
import { invalidRequest } from './invalid-request.ts';
import { isQuery } from './query-method.ts';
import { isSavedFile } from './save-file.ts';

/** Any handler. Its definition is checked against its own route. */
type AnyHandler = (request: never) => Promise<unknown>;
/** One handler for every route: a missing one does not compile. */
type HandlersOf<Rooms> = { [R in keyof Rooms]: Record<keyof Rooms[R], AnyHandler> };

/** Returns a handler's answer as the route's response schema defines it: without further fields. */
type Respond = (route: Endpoint, answer: unknown) => unknown;

/** An endpoint with its handler. */
export interface Operation<E extends Endpoint = Route> {
  name: string;
  route: E;
  handler: AnyHandler;
  respond: Respond;
  /** Whether its method is one that can change something. */
  changes: boolean;
  /** The query string holds the fields of the body. */
  bodyInQuery?: true;
}

/** All endpoints of the contract with their handlers. */
export const allOperations = (handlers: HandlersOf<Contract>, config: Mode): Operation[] =>
  operationsOf(contract, handlers, config);

/** All endpoints of the worker API with their handlers. */
export const workerOperations = (handlers: Record<keyof WorkerApi, AnyHandler>, config: Mode): Operation<Endpoint>[] =>
  operationsIn('worker', workerApi, handlers, config);

type Mode = Pick<Config, 'production'>;

function operationsOf<Rooms extends { [R in keyof Rooms]: Record<string, Route> }>(
  all: Rooms,
  handlers: HandlersOf<Rooms>,
  config: Mode,
): Operation[] {
  const operations: Operation[] = [];
  for (const room in all) operations.push(...operationsIn<string, Route>(room, all[room], handlers[room], config));
  return operations;
}

function operationsIn<Verb extends string, E extends Endpoint>(
  room: string,
  routes: Record<Verb, E>,
  handlers: Record<Verb, AnyHandler>,
  { production }: Mode,
): Operation<E>[] {
  const operations: Operation<E>[] = [];
  const respond = production ? pick : validate;
  for (const verb in routes) {
    const route: E = routes[verb];
    const changes = route.method !== 'GET' && !isQuery(route);
    operations.push({ name: `${room}.${verb}`, route, handler: handlers[verb], respond, changes });
  }
  return operations;
}

/** The query and the body, before the route's schemas have parsed them or after. */
export interface Input {
  query?: unknown;
  body?: unknown;
}

/** What the guard has granted. The handler gets all of it, with the parsed input. */
export interface Access {
  subject: VisibleSubject | null;
}

/** One call of an operation, as its transport received it. */
export interface Call<Granted extends Access> {
  /** Checks that the caller may call the operation. */
  authorize(): Promise<Granted>;
  /** Reads the input. Runs after `authorize`, so that only an allowed caller can make the server read a body. */
  read(): Promise<Input>;
  /** How error pointers name a field of the query: apart from the body's, or like them if the transport has no query. */
  queryPointer: '#query' | '';
  begin(granted: Granted, input: Input): Promise<Attempt>;
  /** Aborted when the caller disconnects. */
  disconnected(): AbortSignal;
}

/** Authorizes a call, parses its input, runs the handler and returns the response: for routes, tools and workers. */
export async function carryOut<Granted extends Access>(
  operation: Operation<Endpoint>,
  call: Call<Granted>,
): Promise<unknown> {
  const granted = await call.authorize();
  const input = parse(operation, await call.read(), call.queryPointer);
  const attempt = operation.changes ? await call.begin(granted, input) : NOT_WRITING;
  return perform(operation, { ...granted, ...input }, call.disconnected, attempt);
}

/** Runs the handler of an authorized call whose input is parsed, and returns the response. */
export async function perform(
  { route, handler, respond, changes }: Operation<Endpoint>,
  asked: Access & Input,
  disconnected: () => AbortSignal,
  { replayed, write, release }: Attempt,
): Promise<unknown> {
  try {
    if (changes && !replayed && route.metadata) requireChangeable(route.metadata, asked.subject);
    // The route's schemas have parsed the input; TypeScript cannot infer that here.
    return respond(route, await handler({ ...asked, write, disconnected } as never));
  } finally {
    await release();
  }
}

/** For a part of the request that the route does not take. */
const NO_FIELDS = z.strictObject({}).optional();

function parse({ route, bodyInQuery }: Operation<Endpoint>, given: Input, queryPointer: '#query' | ''): Input {
  const query = schemaOr(NO_FIELDS, route.query).safeParse(given.query);
  const body = schemaOr(NO_FIELDS, 'body' in route ? route.body : undefined).safeParse(given.body);
  if (query.success && body.success) {
    return bodyInQuery ? { body: query.data } : { query: query.data, body: body.data };
  }
  throw invalidRequest(errorsIn(given, query.error, body.error, queryPointer));
}

const schemaOr = (otherwise: z.ZodType, declared: unknown): z.ZodType =>
  declared instanceof z.ZodType ? declared : otherwise;

function* errorsIn(
  given: Input,
  query: z.ZodError | undefined,
  body: z.ZodError | undefined,
  queryPointer: '#query' | '',
): Generator<FieldError> {
  yield* fieldErrors(query?.issues ?? [], given.query, queryPointer);
  yield* fieldErrors(body?.issues ?? [], given.body);
}

/** Throws if the answer does not match the schema. */
export function validate(route: Endpoint, answer: unknown): unknown {
  const status = successStatus(route);
  if (route.responses[status] === NO_BODY) return undefined;
  if (isEventStream(route) || isSavedFile(answer)) return answer;
  return validateResponse({ appRoute: route, response: { status, body: answer } }).body;
}

/** For production: the types and tests of the handlers ensure that the answer matches. */
export function pick(route: Endpoint, answer: unknown): unknown {
  const declared = route.responses[successStatus(route)];
  if (declared === NO_BODY) return undefined;
  return declared instanceof z.ZodType ? declaredFields(declared)(answer) : answer;
}
