import type { NewEvent } from '../events/outbox.ts';
import type { DeletedFile } from '../uploads/queries.ts';

const deleted = (file: DeletedFile, trashed: boolean): NewEvent<'file.deleted'> => ({
  type: 'file.deleted',
  projectId: file.project_id,
  subjectId: file.id,
  data: { allowRestricted: file.allow_restricted === 1, trashed },
});

/** The event of a file that is moved to the trash. */
export const fileTrashed = (file: DeletedFile) => deleted(file, true);

/** The event of a file that is deleted for good. */
export const fileDeleted = (file: DeletedFile) => deleted(file, false);
