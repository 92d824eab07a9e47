import { type Contract, contract, type Room, type Route } from '@review/contract';
import type { Caller } from '../request/caller.ts';
import type { VisibleSubject } from '../rooms/subjects.ts';
import { requireChangeable } from './authorize.ts';
import type { Attempt } from './idempotency.ts';
import { isQuery } from './query-method.ts';

/** Any `Handler`: its own types have been checked where it was written, against its own route. */
type AnyHandler = (request: never) => Promise<unknown>;
/** One for every route: what a room lacks does not compile. */
type HandlersOf<Rooms> = { [R in keyof Rooms]: Record<keyof Rooms[R], AnyHandler> };

/** An endpoint of the contract with its handler. */
export interface Operation {
  name: string;
  route: Route;
  handler: AnyHandler;
  /** What the handler takes as the body is sent in the query. */
  bodyInQuery?: true;
}

/** Every endpoint there is: what routes and tools carry out. */
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

/** What an operation is carried out with: the route's own schemas have parsed the query and the body. */
export interface Asked {
  caller: Caller;
  subject: VisibleSubject | null;
  query: unknown;
  body: unknown;
  /** Aborted when the caller disconnects. */
  disconnected(): AbortSignal;
}

/** The handler, its writes in one transaction: the same for a route and for a tool. */
export async function perform(
  { route, handler }: Operation,
  { caller, subject, query, body, disconnected }: Asked,
  { replayed, write, release }: Attempt,
): Promise<unknown> {
  const changes = route.method !== 'GET' && !isQuery(route);
  try {
    if (changes && !replayed) requireChangeable(route.metadata, subject);
    // TypeScript cannot follow from here that the schemas of this route made what this handler takes.
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
