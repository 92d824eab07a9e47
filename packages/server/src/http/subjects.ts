import type { ProjectRole, Subject } from '@review/contract';
import type { Database } from '../db/schema.ts';
import { findVisibleFolder } from '../folders/queries.ts';
import { findVisibleMember } from '../members/queries.ts';
import { findVisibleProject } from '../projects/queries.ts';
import type { Caller } from './authenticate.ts';

/** What every subject tells the generic steps; a room adds what its handlers need. */
export interface VisibleSubject {
  id: string;
  projectId: string | null;
  role: ProjectRole | null;
  deletesAt: string | null;
}

type Finder = (db: Database, caller: Caller, id: string) => Promise<VisibleSubject | undefined>;

/** How the thing that `:id` names is found, if the caller can see it. One look-up settles visibility and role. */
export const SUBJECT_FINDERS = {
  project: findVisibleProject,
  folder: findVisibleFolder,
  'project-member': findVisibleMember,
} satisfies Partial<Record<Subject, Finder>>;

export type FoundSubject = keyof typeof SUBJECT_FINDERS;
export type SubjectOf<S> = S extends FoundSubject
  ? NonNullable<Awaited<ReturnType<(typeof SUBJECT_FINDERS)[S]>>>
  : null;
