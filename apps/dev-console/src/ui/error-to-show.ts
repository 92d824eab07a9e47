import { ApiProblem } from '@review/client';

/**
 * The error of a query to show in place of its data, or null. While the service cannot be reached, the data stays;
 * it does not once the caller may no longer read it.
 */
export function errorToShow({ error, data }: { error: Error | null; data: unknown }): Error | null {
  const isGone = error instanceof ApiProblem && (error.status === 403 || error.status === 404);
  return data === undefined || isGone ? error : null;
}
