import type { AppRoute } from '@ts-rest/core';
import { PROJECT_ROLES } from './access.ts';
import { NO_BODY, QUERY, type Route } from './endpoint.ts';
import type { Subject } from './ids.ts';
import { PROBLEMS, type ProblemCode } from './problem.ts';

const ALWAYS: readonly ProblemCode[] = [
  'MISSING_CREDENTIAL',
  'INVALID_CREDENTIAL',
  'EXPIRED_CREDENTIAL',
  'RATE_LIMITED',
  'INTERNAL',
];
const OUTSIDE_PROJECTS: readonly (Subject | null)[] = [null, 'skill', 'skill-version'];

/** Returns every problem that an endpoint can answer with: those that its rules and its request shape imply, and its own. */
export function refusalsOf(route: Route): ProblemCode[] {
  const { scopes, roles, subject, only, whileDeleting, ifMatch, problems = [] } = route.metadata;
  const method: string = route.method;
  const codes = new Set<ProblemCode>(ALWAYS);
  const add = (applies: boolean, ...more: ProblemCode[]) => {
    if (applies) for (const code of more) codes.add(code);
  };
  const writes = method !== 'GET' && method !== QUERY;
  add(scopes.length > 0, 'INSUFFICIENT_SCOPE');
  // `only: 'starter'` adds no 403: to other callers the upload is 404.
  add(
    roles.length > 0 && (roles.length < PROJECT_ROLES.length || only?.startsWith('author') === true),
    'INSUFFICIENT_ROLE',
  );
  add(subject !== null, 'NOT_FOUND');
  add(takesBody(route), 'INVALID_JSON', 'INVALID_REQUEST', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  add(route.query !== undefined, 'INVALID_REQUEST');
  add(method === QUERY, 'INVALID_CURSOR');
  add(writes && whileDeleting !== true && !OUTSIDE_PROJECTS.includes(subject), 'PROJECT_DELETING');
  add(ifMatch === true, 'PRECONDITION_FAILED');
  add(takesIdempotencyKey(route), 'INVALID_REQUEST', 'IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED');
  add(true, ...problems);
  return [...codes].sort((a, b) => PROBLEMS[a].status - PROBLEMS[b].status);
}

export const takesBody = (route: AppRoute): boolean =>
  'body' in route && route.body !== undefined && route.body !== NO_BODY;

export const takesIdempotencyKey = (route: Route): boolean => {
  const method: string = route.method;
  return ['POST', 'PATCH', 'DELETE'].includes(method);
};
