import { type FieldError, MAX_FIELD_ERRORS } from '@review/contract';
import { ProblemError } from '../request/problem.ts';

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
