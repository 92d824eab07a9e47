import type { NO_BODY, SuccessOf, WorkerApi } from '@review/contract';
import type { z } from 'zod';

type Parsed<R, Part extends string> = R extends { [P in Part]: infer Schema }
  ? Schema extends z.ZodType
    ? z.output<Schema>
    : undefined
  : undefined;

type Answer<R extends WorkerApi[keyof WorkerApi]> =
  SuccessOf<R> extends typeof NO_BODY ? void : SuccessOf<R> extends z.ZodType ? z.input<SuccessOf<R>> : never;

export interface WorkerRequest<R> {
  /** The file that the path names. */
  id: string;
  query: Parsed<R, 'query'>;
  body: Parsed<R, 'body'>;
  /** The address that the worker called. */
  base: string;
  /** Aborted when the worker disconnects. */
  signal: AbortSignal;
}

/** A handler for every route of the worker API: one that is missing or misspelt does not compile. */
export type WorkerHandlers = {
  [V in keyof WorkerApi]: (request: WorkerRequest<WorkerApi[V]>) => Promise<Answer<WorkerApi[V]>>;
};
