import { type Contract, contract, type Room, type Route } from '@review/contract';
import type { Caller } from '../request/caller.ts';
import type { VisibleSubject } from '../rooms/subjects.ts';
import { requireChangeable } from './authorize.ts';
import type { Attempt } from './idempotency.ts';
import { isQuery } from './query-method.ts';

/** Any `Handler`. Its definition is checked against its own route. */
type AnyHandler = (request: never) => Promise<unknown>;
/** One handler for every route: a missing one does not compile. */
type HandlersOf<Rooms> = { [R in keyof Rooms]: Record<keyof Rooms[R], AnyHandler> };

/** An endpoint of the contract with its handler. */
export interface Operation {
  name: string;
  route: Route;
  handler: AnyHandler;
  /** The query string holds the fields of the body. */
  bodyInQuery?: true;
}

/** All endpoints of the contract with their handlers. */
export const allOperations = (handlers: HandlersOf<Contract>): Operation[] => operationsOf(contract, handlers);

function operationsOf<Rooms extends { [R in keyof Rooms]: Room }>(
  all: Rooms,
  handlers: HandlersOf<Rooms>,
): Operation[] {
  const operations: Operation[] = [];
  for (const room in all) operations.push(...operationsIn(room, all[room], handlers[room]));
  return operations;
}

function operationsIn<Verb extends string>(
  room: string,
  routes: Record<Verb, Route>,
  handlers: Record<Verb, AnyHandler>,
): Operation[] {
  const operations: Operation[] = [];
  for (const verb in routes) operations.push({ name: `${room}.${verb}`, route: routes[verb], handler: handlers[verb] });
  return operations;
}

/** The input of an operation. The route's schemas have parsed the query and the body. */
export interface Asked {
  caller: Caller;
  subject: VisibleSubject | null;
  query: unknown;
  body: unknown;
  /** Aborted when the caller disconnects. */
  disconnected(): AbortSignal;
}

/** Runs an operation's handler with its writes in one transaction. Routes and tools share it. */
export async function perform(
  { route, handler }: Operation,
  { caller, subject, query, body, disconnected }: Asked,
  { replayed, write, release }: Attempt,
): Promise<unknown> {
  const changes = route.method !== 'GET' && !isQuery(route);
  try {
    if (changes && !replayed) requireChangeable(route.metadata, subject);
    // The route's schemas have parsed the input; TypeScript cannot infer that here.
    return await handler({
      caller,
      subject,
      query,
      body,
      write,
      get signal() {
        return disconnected();
      },
    } as never);
  } finally {
    await release();
  }
}
