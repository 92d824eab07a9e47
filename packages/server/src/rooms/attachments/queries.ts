import { anyOf } from '../../db/any-of.ts';
import { type Params, prepared } from '../../db/prepared.ts';
import type { Database, Writer } from '../../db/schema.ts';
import { liveFiles, memberships, RESTRICTED, type Viewer } from '../visibility.ts';

/** An unused attachment is visible to the user who started it; a used one to all who can see its comment. */
export const findVisibleAttachment = prepared.lookUp((db, { id, ...viewer }: Params<Viewer & { id: string }>) =>
  db
    .selectFrom('uploads as upload')
    .innerJoin(memberships(db, viewer).as('seen'), 'seen.project_id', 'upload.project_id')
    .leftJoin('comments as comment', 'comment.id', 'upload.comment_id')
    .leftJoin(liveFiles(db).select(['id', 'allow_restricted']).as('file'), 'file.id', 'comment.file_id')
    .selectAll('upload')
    .select(['seen.role', 'seen.deletes_at', 'upload.started_by as person_id'])
    .where('upload.id', '=', id)
    .where((eb) =>
      eb.or([
        eb('comment.file_id', 'is', null),
        eb('file.allow_restricted', '=', 1),
        eb.and([eb('seen.role', '!=', RESTRICTED), eb('file.id', 'is not', null)]),
      ]),
    )
    .where((eb) => eb.or([eb('upload.comment_id', 'is not', null), eb('upload.started_by', '=', viewer.userId)])),
);

const attachOne = prepared.changed(
  (db, { commentId, position, id }: Params<{ commentId: string; position: number; id: string }>) =>
    db
      .updateTable('uploads')
      .set({ comment_id: commentId, comment_position: position })
      .where('id', '=', id)
      .where('comment_id', 'is', null),
);

/** Attaches completed uploads to a comment in that order. Returns false if one of them is used already. */
export async function attachToComment(trx: Writer, commentId: string, ids: string[]): Promise<boolean> {
  for (const [position, id] of ids.entries()) {
    if (!(await attachOne(trx, { commentId, position, id }))) return false;
  }
  return true;
}

const findStates = prepared.all(
  (db, { projectId, startedBy, ids }: Params<{ projectId: string; startedBy: string; ids: string[] }>) =>
    db
      .selectFrom('uploads')
      .select(['id', 'completed_with', 'comment_id'])
      .where('project_id', '=', projectId)
      .where('started_by', '=', startedBy)
      .where('id', ...anyOf(db, ids)),
);

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
  const rows = await findStates(db, { projectId, startedBy, ids });
  return new Map(
    rows.map((row) => [row.id, { id: row.id, completed: row.completed_with !== null, used: row.comment_id !== null }]),
  );
}
