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
  /** The id of the file in the path. */
  id: string;
  query: Parsed<R, 'query'>;
  body: Parsed<R, 'body'>;
  /** The origin of the address that the worker called. */
  base: string;
  /** Aborted when the worker disconnects. */
  signal: AbortSignal;
}

/** One handler for every route of the worker API: a missing or misspelt one does not compile. */
export type WorkerHandlers = {
  [V in keyof WorkerApi]: (request: WorkerRequest<WorkerApi[V]>) => Promise<Answer<WorkerApi[V]>>;
};
