import type { Endpoint, NO_BODY, Room, Route, SuccessOf } from '@review/contract';
import type { z } from 'zod';
import type { Writer } from '../db/schema.ts';
import type { Caller } from '../request/caller.ts';
import type { SubjectOf } from './subjects.ts';

type Parsed<R, Part extends string> = R extends { [P in Part]: infer Schema }
  ? Schema extends z.ZodType
    ? z.output<Schema>
    : undefined
  : undefined;

/** The body of the route's success response. */
type Answer<R extends Endpoint> =
  SuccessOf<R> extends typeof NO_BODY ? void : SuccessOf<R> extends z.ZodType ? z.input<SuccessOf<R>> : string;

/** The input of a handler, parsed with the schemas of its route. */
interface Input<R extends Endpoint> {
  query: Parsed<R, 'query'>;
  body: Parsed<R, 'body'>;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
}

interface HandlerRequest<R extends Route> extends Input<R> {
  caller: Caller;
  /** The record of `:id`. It is visible to the caller, whose role allows the operation. */
  subject: SubjectOf<R['metadata']['subject']>;
  /**
   * Runs the work in one transaction and stores its result under the request's idempotency key. All changes of a request
   * happen in here. A repeated request gets the stored result, so that secret or short-lived values must be added later.
   */
  write<T>(work: (trx: Writer) => Promise<T>): Promise<T>;
}

export type Handler<R extends Route> = (request: HandlerRequest<R>) => Promise<Answer<R>>;

/** One handler for every route of a room: a missing or misspelt one does not compile. */
export type Handlers<R extends Room> = { [K in keyof R]: Handler<R[K]> };

interface WorkerRequest<R extends Endpoint> extends Input<R> {
  /** The id of the file in the path. */
  id: string;
  /** The origin of the address that the worker called. */
  base: string;
}

/** One handler for every route of the worker API. */
export type WorkerHandlers<Api extends Record<string, Endpoint>> = {
  [K in keyof Api]: (request: WorkerRequest<Api[K]>) => Promise<Answer<Api[K]>>;
};
