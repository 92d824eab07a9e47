import { type FieldError, fieldErrors } from '@review/contract';
import type { RequestValidationError } from '@ts-rest/express';
import type { NextFunction, Request, Response } from 'express';
import type { z } from 'zod';
import { ProblemError } from './problem.ts';

/** What the contract refused, field by field. */
export function refuseInvalid(
  invalid: RequestValidationError,
  request: Request,
  _response: Response,
  next: NextFunction,
) {
  const errors: FieldError[] = [
    ...fieldErrors(issuesOf(invalid.query), request.query, '#query'),
    ...fieldErrors(issuesOf(invalid.body), request.body),
  ];
  next(invalidRequest(errors));
}

export function invalidRequest(errors: FieldError[]): ProblemError {
  const count = errors.length === 1 ? '1 field is' : `${errors.length} fields are`;
  return new ProblemError('INVALID_REQUEST', { detail: `${count} not valid.`, errors });
}

/** ts-rest passes on what the schema reported; with zod 4 behind the standard interface these are zod's own issues. */
const issuesOf = (error: { issues: readonly unknown[] } | null): z.core.$ZodIssue[] =>
  (error?.issues ?? []) as z.core.$ZodIssue[];
