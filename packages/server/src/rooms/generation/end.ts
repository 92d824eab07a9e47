import type { Writer } from '../../db/schema.ts';
import { endGeneratingFile } from '../files/queries.ts';
import { deleteUploadRow, dropUploads, scheduleBlobDeletion } from '../uploads/queries.ts';
import { type Ending, endGeneration, type StoredGeneration } from './queries.ts';

/** Ends a generation with its file. Returns false if it had ended. Schedules the deletion of blobs that the file does not use. */
export async function endFile(trx: Writer, held: StoredGeneration, ending: Ending, at: string): Promise<boolean> {
  const { fileId, result } = held;
  if (!(await endGeneration(trx, fileId, ending, at))) return false;
  if (ending.status === 'SUCCEEDED' && result !== null) {
    await deleteUploadRow(trx, fileId);
    await endGeneratingFile(trx, fileId, { status: 'UPLOADED', ...result }, at);
    return true;
  }
  await dropUploads(trx, [fileId], at);
  if (result !== null) await scheduleBlobDeletion(trx, [{ key: result.storageKey, upload: null }], at);
  await endGeneratingFile(trx, fileId, { status: ending.status === 'CANCELED' ? 'CANCELED' : 'FAILED' }, at);
  return true;
}
