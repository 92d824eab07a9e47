import type {
  Endpoint,
  EVENT_STREAM,
  EventType,
  FILE_CONTENT,
  NO_BODY,
  Room,
  Route,
  SuccessOf,
} from '@review/contract';
import type { z } from 'zod';
import type { Caller } from '../request/caller.ts';
import type { Write } from './events/outbox.ts';
import type { SubjectOf } from './subjects.ts';

type Parsed<R, Part extends string> = R extends { [P in Part]: infer Schema }
  ? Schema extends z.ZodType
    ? z.output<Schema>
    : undefined
  : undefined;

/** The body of the route's success response: its chunks if it is a stream. */
type Answer<R extends Endpoint> =
  SuccessOf<R> extends typeof NO_BODY
    ? void
    : SuccessOf<R> extends z.ZodType
      ? z.input<SuccessOf<R>>
      : SuccessOf<R> extends { contentType: typeof EVENT_STREAM }
        ? AsyncIterable<string>
        : SuccessOf<R> extends { contentType: typeof FILE_CONTENT }
          ? SavedFile
          : string;

/** A file that is made while it is sent. */
export interface SavedFile {
  name: string;
  mimeType: string;
  chunks: AsyncIterable<string | Uint8Array>;
}

/** The input of a handler, parsed with the schemas of its route. */
interface Input<R extends Endpoint> {
  query: Parsed<R, 'query'>;
  body: Parsed<R, 'body'>;
  /** Returns a signal that is aborted when the caller disconnects. */
  disconnected(): AbortSignal;
}

interface Granted<R extends Route> {
  caller: Caller;
  /** The record of `:id`. It is visible to the caller, whose role allows the operation. */
  subject: SubjectOf<R['metadata']['subject']>;
}

/** Only for routes whose rules name their events. */
type Writing<R extends Route> = R['metadata'] extends { events: readonly (infer E extends EventType)[] }
  ? {
      /**
       * Runs the work in one transaction, and stores its answer under the request's idempotency key and its events. All
       * changes of a request happen in here. A repeated request gets the stored answer and emits no events, so that secret
       * or short-lived values must be added later.
       */
      write: Write<E>;
    }
  : unknown;

/** Only for routes that answer with a stream. */
type Streaming<R extends Route> =
  SuccessOf<R> extends { contentType: typeof EVENT_STREAM }
    ? {
        /** Whether the credential is still accepted. */
        isCredentialValid(): Promise<boolean>;
        /** Reads the subject again; undefined if the caller has lost access. */
        findSubject(): Promise<SubjectOf<R['metadata']['subject']> | undefined>;
      }
    : unknown;

export type Handler<R extends Route> = (
  request: Input<R> & Granted<R> & Writing<R> & Streaming<R>,
) => Promise<Answer<R>>;

/** One handler for every route of a room: a missing or misspelt one does not compile. */
export type Handlers<R extends Room> = { [K in keyof R]: Handler<R[K]> };

interface WorkerRequest<R extends Endpoint> extends Input<R> {
  /** The id in the path, of a file or a webhook. */
  id: string;
  /** The origin of the address that the worker called. */
  base: string;
}

/** One handler for every route of the worker API. */
export type WorkerHandlers<Api extends Record<string, Endpoint>> = {
  [K in keyof Api]: (request: WorkerRequest<Api[K]>) => Promise<Answer<Api[K]>>;
};
