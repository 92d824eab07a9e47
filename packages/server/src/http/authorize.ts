import { LEADS, type Rules, SUBJECT_IDS } from '@review/contract';
import type { Deps } from '../deps.ts';
import type { Caller } from '../request/caller.ts';
import { ProblemError } from '../request/problem.ts';
import { SUBJECT_FINDERS, type VisibleSubject } from '../rooms/subjects.ts';

export const hasScope = ({ scopes }: Rules, caller: Caller): boolean =>
  scopes.length === 0 || scopes.some((scope) => caller.scopes.has(scope));

export function requireScope(rules: Rules, caller: Caller): void {
  if (hasScope(rules, caller)) return;
  const needed = rules.scopes.join(' ');
  throw new ProblemError('INSUFFICIENT_SCOPE', {
    detail: `The credential needs the scope ${rules.scopes.join(' or ')}.`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${needed}"` },
  });
}

/** Returns what `:id` names if the caller can see it and has a role for the operation; null for a route without an id. */
export async function requireSubject(
  { db }: Pick<Deps, 'db'>,
  rules: Rules,
  caller: Caller,
  id: unknown,
): Promise<VisibleSubject | null> {
  if (rules.subject === null) return null;
  const wellFormed = SUBJECT_IDS[rules.subject].safeParse(id);
  if (!wellFormed.success) throw new ProblemError('NOT_FOUND');
  const subject = await SUBJECT_FINDERS[rules.subject](db, { ...caller, id: wellFormed.data });
  if (subject === undefined) throw new ProblemError('NOT_FOUND');
  requireRole(rules, caller, subject);
  return subject;
}

function requireRole({ roles, only }: Rules, caller: Caller, { role, person_id: personId }: VisibleSubject): void {
  if (roles.length > 0 && (role === null || !roles.includes(role))) throw new ProblemError('INSUFFICIENT_ROLE');
  if (only === undefined || personId === caller.userId) return;
  // An upload is visible only to the caller that started it.
  if (only === 'starter') throw new ProblemError('NOT_FOUND');
  const leads: readonly string[] = LEADS;
  if (only === 'author' || role === null || !leads.includes(role)) throw new ProblemError('INSUFFICIENT_ROLE');
}

/** A project that is scheduled for deletion is read-only. */
export function requireChangeable(rules: Rules, subject: VisibleSubject | null): void {
  if (subject?.deletes_at && !rules.whileDeleting) throw new ProblemError('PROJECT_DELETING');
}
