import { z } from 'zod';
import { type Bounds, list } from './collections.ts';

/** Accepts any UUID in either case. New ids are version 7. */
export const Uuid = z.guid({ error: 'Must be a UUID.' }).toLowerCase().meta({ id: 'Uuid', description: 'A UUID.' });

const OPAQUE = '[0-9A-HJKMNP-TV-Z]{20}';
const prefixed = (...prefixes: string[]) =>
  z
    .string()
    .regex(new RegExp(`^(?:${prefixes.join('|')})${OPAQUE}$`), { error: idOf(prefixes) })
    .describe(idOf(prefixes));
const idOf = (prefixes: readonly string[]) => `An id that starts with ${prefixes.join(' or ')}.`;

export const FileId = prefixed('FX').meta({ id: 'FileId' });
export const FolderId = prefixed('DX').meta({ id: 'FolderId' });
export const GenerationAttachmentId = prefixed('GA').meta({ id: 'GenerationAttachmentId' });
export const CommentAttachmentId = prefixed('CA').meta({ id: 'CommentAttachmentId' });
export const SkillId = prefixed('SK').meta({ id: 'SkillId' });
export const SkillVersionId = prefixed('SV').meta({ id: 'SkillVersionId' });
/** The id of a file or a generation attachment, which a generation can use as a reference. */
export const ReferenceId = prefixed('FX', 'GA').meta({ id: 'ReferenceId' });

/** The kinds of records that the `:id` of a path can name, and the form of their ids. */
export const SUBJECT_IDS = {
  project: Uuid,
  file: FileId,
  /** A file, whether it is in the trash or not. */
  'stored-file': FileId,
  folder: FolderId,
  version: Uuid,
  'project-member': Uuid,
  comment: Uuid,
  'comment-attachment': CommentAttachmentId,
  'generation-attachment': GenerationAttachmentId,
  'access-link': Uuid,
  webhook: Uuid,
  'webhook-delivery': Uuid,
  skill: SkillId,
  'skill-version': SkillVersionId,
} as const satisfies Record<string, z.ZodType<string>>;
export type Subject = keyof typeof SUBJECT_IDS;

export const reference = <Id extends z.ZodType<string>>(id: Id) => z.strictObject({ id });

/** A list of references without duplicates. */
export const references = (id: z.ZodString, bounds: Bounds) =>
  list(reference(id), bounds, {
    of: (item) => item.id,
    path: ['id'],
    message: 'The id is a duplicate of an earlier one in the list.',
  });
