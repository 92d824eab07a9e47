import { type FieldError, fieldErrors, NO_BODY, successStatus } from '@review/contract';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { requireScope, requireSubject } from '../http/authorize.ts';
import { disconnectSignal } from '../http/disconnect-signal.ts';
import { unkeyed } from '../http/idempotency.ts';
import { invalidRequest } from '../http/invalid-request.ts';
import { type Operation, perform } from '../http/operations.ts';
import type { Caller } from '../request/caller.ts';

/** A request to the tools that passed the guard. */
export interface ToolRequest {
  caller: Caller;
  request: Request;
  response: Response;
}

interface Given {
  id?: unknown;
  query?: unknown;
  body?: unknown;
}

/** Runs an operation as its route does: checks visibility and role, parses the input, runs the handler, parses the output. */
export async function run(
  deps: Deps,
  { caller, response }: ToolRequest,
  operation: Operation,
  given: Given,
): Promise<unknown> {
  const { route } = operation;
  // The guard has checked the scope of the message's operation; a task or a resource can run another one.
  requireScope(route.metadata, caller);
  const { subject: kind } = route.metadata;
  if (kind !== null && given.id === undefined) {
    throw invalidRequest([{ pointer: '/id', code: 'REQUIRED', message: `The id of the ${kind} is required.` }]);
  }
  const subject = await requireSubject(deps, route.metadata, caller, String(given.id));
  const query = parse(route.query, given.query);
  const body = parse('body' in route ? route.body : undefined, given.body);
  if (!query.parsed.success || !body.parsed.success) throw invalidRequest(errorsIn(query, body));
  const disconnected = () => disconnectSignal(response);
  const asked = { caller, subject, query: query.parsed.data, body: body.parsed.data, disconnected };
  const answer = await perform(operation, asked, unkeyed(deps.db));
  const declared: unknown = route.responses[successStatus(route)];
  return declared instanceof z.ZodType ? declared.parse(answer) : declared === NO_BODY ? undefined : answer;
}

/** Parses input with the route's schema. A route without a schema accepts no fields. */
function parse(schema: unknown, given: unknown = {}) {
  return { given, parsed: (schema instanceof z.ZodType ? schema : z.strictObject({})).safeParse(given) };
}

function* errorsIn(...parts: ReturnType<typeof parse>[]): Generator<FieldError> {
  for (const { given, parsed } of parts) {
    if (!parsed.success) yield* fieldErrors(parsed.error.issues, given);
  }
}
