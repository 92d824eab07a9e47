import type { Selectable } from 'kysely';
import type { Schema } from '../src/db/schema.ts';
import type { Membership } from '../src/rooms/visibility.ts';
import type { FairDatabase } from './fair-database.ts';

type Table<Name extends keyof Schema> = Selectable<Schema[Name]>;

/** All columns of a comment but the text for the search. */
export type CommentRow = Omit<Table<'comments'>, 'folded_text'>;
const COMMENT_COLUMNS = `c.id, c.project_id, c.file_id, c.parent_id, c.author_id, c.content, c.anchor, c.duration, c.annotation,
  c.resolved_at, c.deleted_at, c.created_at, c.updated_at`;

const SEEN = `join (select project.id, membership.role, project.deletes_at from project_members membership
  join projects project on project.id = membership.project_id
  where membership.user_id = ? and project.workspace_id = ?) seen`;

const insertEvent = (projectId: string, sequence: string) =>
  `insert into events (project_id, sequence, type, subject_id, guard_id, was_open, actor_id, at, data)
   select ${projectId}, ${sequence}, 'comment.created', ?, null, null, ?, ?, ?`;
const RAISE_COUNTER = `insert into event_counters (project_id, last_sequence) values (?, 1)
  on conflict (project_id) do update set last_sequence = event_counters.last_sequence + 1 returning *`;

/** The statements of the fair server: those that its routes need, no more and no less. */
export const fairQueries = ({ prepare, prepareWrite, insertsInWith }: FairDatabase) => ({
  credential: prepare<Table<'api_keys'>>(
    'credential',
    `select k.* from api_keys k
     join workspace_members m on m.workspace_id = k.workspace_id and m.user_id = k.user_id where k.hash = ?`,
  ),
  workspace: prepare<Table<'workspaces'>>('workspace', 'select id, name, avatar_url from workspaces where id = ?'),
  project: prepare<Table<'projects'> & Membership>(
    'project',
    `select p.*, m.role from projects p join project_members m on m.project_id = p.id
     where m.user_id = ? and p.workspace_id = ? and p.id = ?`,
  ),
  comment: prepare<CommentRow & Membership & { file_allowed: number | null }>(
    'comment',
    `select ${COMMENT_COLUMNS}, seen.role, seen.deletes_at, f.allow_restricted as file_allowed
     from comments c ${SEEN} on seen.id = c.project_id left join files f on f.id = c.file_id where c.id = ?`,
  ),
  file: prepare<Table<'files'> & Membership>(
    'file',
    `select f.*, seen.role, seen.deletes_at from files f ${SEEN} on seen.id = f.project_id where f.id = ?`,
  ),
  media: prepare<Table<'media'>>('media', 'select * from media where file_id = ?'),
  commentPage: prepare<CommentRow>(
    'comment-page',
    `select ${COMMENT_COLUMNS} from comments c where parent_id is null and project_id = ? and file_id is null
     order by created_at desc, id desc limit 51`,
  ),
  versionPage: prepare<Table<'versions'>>(
    'version-page',
    `select * from versions where project_id = ? and (allow_restricted = 1 or ? <> 'PROJECT_RESTRICTED_REVIEWER')
     order by created_at desc, id desc limit 51`,
  ),
  authors: prepare<{ id: string; name: string; avatarUrl: string | null }>(
    'authors',
    `select u.id, coalesce(m.display_name, u.name) as name, coalesce(m.avatar_url, u.avatar_url) as "avatarUrl"
     from users u left join workspace_members m on m.user_id = u.id and m.workspace_id = ? where u.id = any(?)`,
  ),
  attachments: prepare<{ id: string; name: string; mimeType: string | null; size: number; commentId: string }>(
    'attachments',
    `select id, name, mime_type as "mimeType", size, comment_id as "commentId" from uploads
     where comment_id = any(?) order by comment_position`,
  ),
  reactions: prepare<{ commentId: string; type: string; count: number; reacted: number }>(
    'reactions',
    `select comment_id as "commentId", type, count(*) as count, max(case when user_id = ? then 1 else 0 end) as reacted
     from reactions where comment_id = any(?) group by comment_id, type order by min(created_at), type`,
  ),
  replies: prepare<{ parentId: string; count: number }>(
    'replies',
    'select parent_id as "parentId", count(*) as count from comments where parent_id = any(?) group by parent_id',
  ),
  insertComment: prepareWrite('insert-comment', [
    `insert into comments (id, project_id, file_id, parent_id, author_id, content, anchor, duration, annotation,
       created_at, updated_at, folded_text) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    insertsInWith
      ? `with counter as (${RAISE_COUNTER}) ${insertEvent('project_id', 'last_sequence')} from counter`
      : // A trigger raises the counter.
        `${insertEvent('?', 'coalesce(max(last_sequence), 0) + 1')} from event_counters where project_id = ?`,
  ]),
});
