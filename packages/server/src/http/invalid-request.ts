import { type FieldError, fieldErrors, MAX_FIELD_ERRORS } from '@review/contract';
import type { RequestValidationError } from '@ts-rest/express';
import type { NextFunction, Request, Response } from 'express';
import type { z } from 'zod';
import { ProblemError } from '../request/problem.ts';

/** Turns ts-rest's validation errors into a problem with one entry per field. */
export function refuseInvalid(
  invalid: RequestValidationError,
  request: Request,
  _response: Response,
  next: NextFunction,
) {
  next(invalidRequest(errorsIn(invalid, request)));
}

function* errorsIn({ query, body }: RequestValidationError, request: Request): Generator<FieldError> {
  yield* fieldErrors(issuesOf(query), request.query, '#query');
  yield* fieldErrors(issuesOf(body), request.body);
}

/** Reads at most one error more than a problem lists, to know whether there are more. */
export function invalidRequest(found: Iterable<FieldError>): ProblemError {
  const errors: FieldError[] = [];
  for (const error of found) if (errors.push(error) > MAX_FIELD_ERRORS) break;
  const count =
    errors.length > MAX_FIELD_ERRORS
      ? `More than ${MAX_FIELD_ERRORS} fields are`
      : errors.length === 1
        ? '1 field is'
        : `${errors.length} fields are`;
  return new ProblemError('INVALID_REQUEST', { detail: `${count} not valid.`, errors });
}

/** ts-rest passes the issues of the schema on; those of a zod 4 schema are zod's own. */
const issuesOf = (error: { issues: readonly unknown[] } | null): z.core.$ZodIssue[] =>
  (error?.issues ?? []) as z.core.$ZodIssue[];
