import { anyOf } from '../../db/any-of.ts';
import type { Database, Writer } from '../../db/schema.ts';
import type { Upload } from '../uploads/queries.ts';
import { isRestricted, type Membership, memberships, type Viewer } from '../visibility.ts';

type VisibleAttachment = Upload & Membership & { person_id: string };

/** An unused attachment is visible to the user who started it; a used one to all who can see its comment. */
export async function findVisibleAttachment(
  db: Database,
  viewer: Viewer,
  id: string,
): Promise<VisibleAttachment | undefined> {
  const upload = await db
    .selectFrom('uploads as upload')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'upload.project_id')
    .leftJoin('comments as comment', 'comment.id', 'upload.comment_id')
    .leftJoin('files as file', 'file.id', 'comment.file_id')
    .selectAll('upload')
    .select(['seen.role', 'seen.deletes_at', 'upload.started_by as person_id'])
    .select(['comment.file_id', 'file.allow_restricted as file_allowed'])
    .where('upload.id', '=', id)
    .executeTakeFirst();
  if (upload === undefined) return undefined;
  const isOnHiddenFile = isRestricted(upload.role) && upload.file_id !== null && upload.file_allowed !== 1;
  const isOfAnother = upload.comment_id === null && upload.started_by !== viewer.userId;
  return isOnHiddenFile || isOfAnother ? undefined : upload;
}

/** Attaches completed uploads to a comment in that order. Returns false if one of them is used already. */
export async function attachToComment(trx: Writer, commentId: string, ids: string[]): Promise<boolean> {
  for (const [position, id] of ids.entries()) {
    const result = await trx
      .updateTable('uploads')
      .set({ comment_id: commentId, comment_position: position })
      .where('id', '=', id)
      .where('comment_id', 'is', null)
      .executeTakeFirst();
    if (result.numUpdatedRows !== 1n) return false;
  }
  return true;
}

interface AttachmentState {
  id: string;
  completed: boolean;
  used: boolean;
}

/** Returns the state of those attachments that the user started in the project. */
export async function findAttachments(
  db: Database,
  projectId: string,
  startedBy: string,
  ids: string[],
): Promise<Map<string, AttachmentState>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('uploads')
    .select(['id', 'completed_with', 'comment_id'])
    .where('project_id', '=', projectId)
    .where('started_by', '=', startedBy)
    .where('id', 'in', anyOf(ids))
    .execute();
  return new Map(
    rows.map((row) => [row.id, { id: row.id, completed: row.completed_with !== null, used: row.comment_id !== null }]),
  );
}
