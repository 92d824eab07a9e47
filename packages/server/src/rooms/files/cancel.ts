import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import type { NewEvent } from '../events/outbox.ts';
import { endFile } from '../generation/end.ts';
import { findGeneration } from '../generation/queries.ts';
import { dropUnfinishedUpload, type PendingBlobDeletion } from '../uploads/queries.ts';
import { setFinalStatus } from './queries.ts';

interface Canceled {
  /** The unfinished upload, to abort in the storage after the commit. */
  dropped: PendingBlobDeletion[];
  /** Empty if the file had its final status. */
  events: NewEvent<'file.upload.canceled' | 'file.generation.canceled'>[];
}

/** Cancels the generation or the upload of a file that has no final status yet. */
export async function cancelFile(trx: Writer, file: { id: string; project_id: string }): Promise<Canceled> {
  const about = { projectId: file.project_id, subjectId: file.id, data: {} };
  const generation = await findGeneration(trx, file.id);
  if (generation !== undefined) {
    const ended = await endFile(trx, generation, { status: 'CANCELED' }, now());
    return { dropped: [], events: ended ? [{ type: 'file.generation.canceled', ...about }] : [] };
  }
  // Locks the upload before the file, as completing an upload does, to prevent deadlocks.
  const dropped = await dropUnfinishedUpload(trx, file.id, now());
  const ended = await setFinalStatus(trx, file.id, 'UPLOADING', { status: 'CANCELED' }, now());
  return { dropped, events: ended ? [{ type: 'file.upload.canceled', ...about }] : [] };
}
