import type { Request, Response } from 'express';
import type { Deps } from '../deps.ts';
import { requireScope, requireSubject } from '../http/authorize.ts';
import { disconnectSignal } from '../http/disconnect-signal.ts';
import { unkeyed } from '../http/idempotency.ts';
import { invalidRequest } from '../http/invalid-request.ts';
import { carryOut, type Input, type Operation } from '../http/operations.ts';
import type { Caller } from '../request/caller.ts';

/** A request to the tools that passed the guard. */
export interface ToolRequest {
  caller: Caller;
  request: Request;
  response: Response;
}

/** Runs an operation with the arguments of a tool, a task or a resource. */
export function run(
  deps: Deps,
  { caller, response }: ToolRequest,
  operation: Operation,
  { id, query = {}, body = {} }: Input & { id?: unknown },
): Promise<unknown> {
  const { metadata } = operation.route;
  return carryOut(operation, {
    authorize: async () => {
      // The guard has checked the scope of the message's operation; a task or a resource can run another one.
      requireScope(metadata, caller);
      if (metadata.subject !== null && id === undefined) {
        const message = `The id of the ${metadata.subject} is required.`;
        throw invalidRequest([{ pointer: '/id', code: 'REQUIRED', message }]);
      }
      return { caller, subject: await requireSubject(deps, metadata, caller, id) };
    },
    read: async () => ({ query, body }),
    queryPointer: '',
    begin: async () => unkeyed(deps, caller),
    disconnected: () => disconnectSignal(response),
  });
}
