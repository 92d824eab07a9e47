import type { ProjectRole, Subject } from '@review/contract';
import type { Database } from '../db/schema.ts';
import type { Caller } from '../request/caller.ts';
import { findVisibleAccessLink } from './access-links/queries.ts';
import { findVisibleAttachment } from './attachments/queries.ts';
import { findVisibleComment } from './comments/queries.ts';
import { findStoredFile, findVisibleFile } from './files/queries.ts';
import { findVisibleFolder } from './folders/queries.ts';
import { findVisibleMember } from './members/queries.ts';
import { findVisibleProject } from './projects/queries.ts';
import { findVisibleSkill, findVisibleSkillVersion } from './skills/queries.ts';
import { findVisibleVersion } from './versions/queries.ts';
import { findVisibleDelivery, findVisibleWebhook } from './webhooks/queries.ts';

/** The fields of a subject that the middleware checks. Rooms add the fields that their handlers need. */
export interface VisibleSubject {
  id: string;
  role: ProjectRole | null;
  deletes_at: string | null;
  /** The author of a comment, or the user who started an upload. */
  person_id?: string;
}

type Finder = (db: Database, found: Caller & { id: string }) => Promise<VisibleSubject | undefined>;

/** The look-ups of `:id` by kind. Each returns the record and the caller's role if the caller can see it. */
export const SUBJECT_FINDERS = {
  project: findVisibleProject,
  file: findVisibleFile,
  'stored-file': findStoredFile,
  folder: findVisibleFolder,
  version: findVisibleVersion,
  'project-member': findVisibleMember,
  comment: findVisibleComment,
  'comment-attachment': findVisibleAttachment,
  'generation-attachment': findVisibleAttachment,
  'access-link': findVisibleAccessLink,
  webhook: findVisibleWebhook,
  'webhook-delivery': findVisibleDelivery,
  skill: findVisibleSkill,
  'skill-version': findVisibleSkillVersion,
} satisfies Record<Subject, Finder>;

export type SubjectOf<S> = S extends Subject ? NonNullable<Awaited<ReturnType<(typeof SUBJECT_FINDERS)[S]>>> : null;
