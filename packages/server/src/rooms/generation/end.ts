import { parseJson } from '../../db/json.ts';
import type { Writer } from '../../db/schema.ts';
import { setFinalStatus } from '../files/queries.ts';
import { deleteUploadRow, dropUploads, scheduleBlobDeletion } from '../uploads/queries.ts';
import { type Ending, endGeneration, type StoredGeneration } from './queries.ts';

/** Ends a generation with its file. Returns false if it had ended. Schedules the deletion of blobs that the file does not use. */
export async function endFile(trx: Writer, held: StoredGeneration, ending: Ending, at: string): Promise<boolean> {
  const { file_id: fileId } = held;
  const result = parseJson(held.result);
  if ((await endGeneration(trx, fileId, ending, at)) === undefined) return false;
  if (ending.status === 'SUCCEEDED' && result !== null) {
    await deleteUploadRow(trx, fileId);
    const { storageKey, mimeType, size, sha256 } = result;
    const content = { storage_key: storageKey, mime_type: mimeType, size, sha256 };
    await setFinalStatus(trx, fileId, 'GENERATING', { status: 'UPLOADED', ...content }, at);
    return true;
  }
  await dropUploads(trx, [fileId], at);
  if (result !== null) await scheduleBlobDeletion(trx, [{ key: result.storageKey, upload: null }], at);
  const status = ending.status === 'CANCELED' ? 'CANCELED' : 'FAILED';
  await setFinalStatus(trx, fileId, 'GENERATING', { status }, at);
  return true;
}
