import type { NO_BODY, Room, Route, SuccessOf } from '@review/contract';
import type { z } from 'zod';
import type { Writer } from '../db/schema.ts';
import type { Caller } from '../request/caller.ts';
import type { SubjectOf } from './subjects.ts';

type Parsed<R, Part extends string> = R extends { [P in Part]: infer Schema }
  ? Schema extends z.ZodType
    ? z.output<Schema>
    : undefined
  : undefined;

/** What a handler of the route answers: the body of its one success. */
type Answer<R extends Route> =
  SuccessOf<R> extends typeof NO_BODY ? void : SuccessOf<R> extends z.ZodType ? z.input<SuccessOf<R>> : string;

interface HandlerRequest<R extends Route> {
  caller: Caller;
  /** What `:id` names: visible to the caller, whose role allows the operation. */
  subject: SubjectOf<R['metadata']['subject']>;
  query: Parsed<R, 'query'>;
  body: Parsed<R, 'body'>;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
  /**
   * Runs the work in one transaction, together with the record of what it gave back under the request's Idempotency-Key.
   * Whatever a request changes, it changes in here. A repeated request gets what the first one's work gave back, so
   * anything secret or short-lived is added to the answer afterwards.
   */
  write<T>(work: (trx: Writer) => Promise<T>): Promise<T>;
}

export type Handler<R extends Route> = (request: HandlerRequest<R>) => Promise<Answer<R>>;

/** A handler for every route of a room: one that is missing or misspelt does not compile. */
export type Handlers<R extends Room> = { [K in keyof R]: Handler<R[K]> };
