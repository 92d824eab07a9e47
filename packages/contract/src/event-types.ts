import { z } from 'zod';
import { LEADS, PROJECT_ROLES, ProjectRole, type Scope } from './access.ts';
import { GenerationErrorCode } from './generation-error.ts';
import { CommentAttachmentId, FileId, FolderId, SUBJECT_IDS, type Subject, Uuid } from './ids.ts';
import { MediaErrorCode } from './media.ts';
import { ReviewStatus } from './review-status.ts';
import { Timestamp } from './time.ts';

/** The number of an event in its project, which increases in the order of the commits. */
export const EventId = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,14})$/, { error: 'Must be the id of an event.' })
  .meta({ id: 'EventId', description: 'The number of an event in its project.', examples: ['42'] });

const reference = <Id extends z.ZodType<string>>(id: Id) => z.object({ id });
const changed = <const Field extends string>(...fields: [Field, ...Field[]]) => z.array(z.enum(fields));

/** Who may see an event: the callers that may read its subject. */
interface Readers {
  /** The credential needs any one of these; an empty list allows every valid credential. */
  scopes: readonly Scope[];
  roles: readonly ProjectRole[];
}

const readableWith = (...scopes: Scope[]): Readers => ({ scopes, roles: PROJECT_ROLES });
const PROJECT = readableWith('projects:read');
const MEMBERS = readableWith('project-members:read');
const FOLDERS = readableWith('folders:read');
const FILES = readableWith('files:read');
const VERSIONS = readableWith();
const COMMENTS = readableWith('comments:read');
const LINKS: Readers = { scopes: ['access-links:read'], roles: LEADS };
const WEBHOOKS: Readers = { scopes: ['projects:write'], roles: LEADS };

/** The receiver answered 410, failed for three days, or SECRET_KEY has changed so that deliveries cannot be signed. */
export const WebhookDisabledReason = z
  .enum(['GONE', 'FAILING', 'SECRET_UNREADABLE'])
  .meta({ id: 'WebhookDisabledReason' });
export type WebhookDisabledReason = z.infer<typeof WebhookDisabledReason>;

/** Returns the name of the schema in the OpenAPI document: `FileUploadCompletedEvent` for `file.upload.completed`. */
const schemaName = (type: string) =>
  `${type
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Event`;

/** `data` holds ids and what changed, never prompts, contents or secrets. */
const event = <const T extends string, const S extends Subject, Data extends z.ZodRawShape>(
  type: T,
  subject: S,
  readers: Readers,
  data: Data,
) => ({
  type,
  subject,
  ...readers,
  schema: z
    .object({
      id: EventId,
      type: z.literal(type),
      at: Timestamp,
      project: reference(Uuid),
      subject: z.object({ type: z.literal(subject), id: SUBJECT_IDS[subject] }),
      /** Null for a change that no person made, such as the end of a generation. */
      actor: reference(Uuid).nullable(),
      data: z.object(data),
    })
    .meta({ id: schemaName(type) }),
});

const user = reference(Uuid);
/** The file that a comment is on; null for a comment on the project. */
const file = reference(FileId).nullable();

/** The type of every event, with its subject, its readers and its data. Each operation names those it emits in its rules. */
export const EVENTS = [
  event('project.created', 'project', PROJECT, {}),
  event('project.updated', 'project', PROJECT, { changed: changed('name', 'description', 'deadline') }),
  event('project.deleting', 'project', PROJECT, { deletesAt: Timestamp }),
  event('project.restored', 'project', PROJECT, {}),

  event('member.added', 'project-member', MEMBERS, { user, role: ProjectRole }),
  event('member.changed', 'project-member', MEMBERS, { user, role: ProjectRole }),
  event('member.removed', 'project-member', MEMBERS, { user }),

  event('folder.created', 'folder', FOLDERS, { parent: reference(FolderId).nullable() }),
  event('folder.updated', 'folder', FOLDERS, { changed: changed('name', 'parent') }),
  event('folder.deleted', 'folder', FOLDERS, {}),

  event('file.created', 'file', FILES, {
    mode: z.enum(['GENERATED', 'UPLOADED']),
    folder: reference(FolderId).nullable(),
  }),
  event('file.updated', 'file', FILES, { changed: changed('name', 'description', 'folder', 'allowRestricted') }),
  event('file.tagged', 'file', FILES, { tag: ReviewStatus }),
  /**
   * `allowRestricted` decides whether restricted reviewers see the event. `trashed` tells whether the file can be restored;
   * events of earlier releases, which had no trash, lack it.
   */
  event('file.deleted', 'file', FILES, { allowRestricted: z.boolean(), trashed: z.boolean().optional() }),
  event('file.restored', 'file', FILES, { folder: reference(FolderId).nullable() }),
  event('file.upload.completed', 'file', FILES, { mimeType: z.string(), size: z.number().int() }),
  event('file.upload.canceled', 'file', FILES, {}),
  event('file.generation.queued', 'file', FILES, { outputModel: z.string() }),
  event('file.generation.started', 'file', FILES, {}),
  event('file.generation.progressed', 'file', FILES, { progress: z.number().min(0).max(1) }),
  event('file.generation.succeeded', 'file', FILES, {}),
  event('file.generation.failed', 'file', FILES, { error: z.object({ code: GenerationErrorCode }) }),
  event('file.generation.canceled', 'file', FILES, {}),
  event('file.media.ready', 'file', FILES, {}),
  event('file.media.failed', 'file', FILES, { error: z.object({ code: MediaErrorCode }) }),

  event('version.created', 'version', VERSIONS, {}),
  event('version.updated', 'version', VERSIONS, {
    changed: changed('name', 'description', 'allowRestricted', 'files'),
  }),
  event('version.status.changed', 'version', VERSIONS, { status: ReviewStatus }),

  event('comment.created', 'comment', COMMENTS, {
    file,
    parent: reference(Uuid).nullable(),
    attachments: z.array(reference(CommentAttachmentId)),
  }),
  event('comment.updated', 'comment', COMMENTS, { file }),
  event('comment.deleted', 'comment', COMMENTS, { file }),
  event('comment.resolved', 'comment', COMMENTS, { file }),
  event('comment.reopened', 'comment', COMMENTS, { file }),
  /** The people whom a new or edited comment mentions, without those whom it had mentioned before. */
  event('comment.mentioned', 'comment', COMMENTS, { file, users: z.array(user) }),
  event('reaction.added', 'comment', COMMENTS, { file, type: z.string() }),
  event('reaction.removed', 'comment', COMMENTS, { file, type: z.string() }),

  event('link.created', 'access-link', LINKS, { role: ProjectRole }),
  event('link.deleted', 'access-link', LINKS, {}),
  event('link.redeemed', 'access-link', LINKS, { user }),

  event('webhook.created', 'webhook', WEBHOOKS, {}),
  event('webhook.updated', 'webhook', WEBHOOKS, {
    changed: changed('url', 'types', 'description', 'active', 'secret'),
  }),
  event('webhook.deleted', 'webhook', WEBHOOKS, {}),
  event('webhook.disabled', 'webhook', WEBHOOKS, { reason: WebhookDisabledReason }),
  /** Delivered to its subject only. */
  event('webhook.tested', 'webhook', WEBHOOKS, {}),
] as const;

type EventDefinition = (typeof EVENTS)[number];
export type EventType = EventDefinition['type'];

const types: EventType[] = EVENTS.map(({ type }) => type);
export const EventType = z.enum(types).meta({ id: 'EventType' });

/** A change in a project. */
export const ProjectEvent = z.union(EVENTS.map(({ schema }) => schema)).meta({ id: 'Event' });
export type ProjectEvent = z.infer<typeof ProjectEvent>;

/** The event of one type. */
export type EventOf<T extends EventType> = Extract<ProjectEvent, { type: T }>;
