import { parseJson } from '../../db/json.ts';
import type { Writer } from '../../db/schema.ts';
import type { NewEvent } from '../events/outbox.ts';
import { setFinalStatus } from '../files/queries.ts';
import { addMediaTask } from '../media/tasks.ts';
import { deleteUploadRow, dropUploads, scheduleBlobDeletion } from '../uploads/queries.ts';
import { type Ending, endGeneration, type StoredGeneration } from './queries.ts';

type EndEvent = NewEvent<'file.generation.succeeded' | 'file.generation.failed' | 'file.generation.canceled'>;

export function endEvent(projectId: string, fileId: string, ending: Ending): EndEvent {
  const about = { projectId, subjectId: fileId };
  if (ending.status === 'SUCCEEDED') return { type: 'file.generation.succeeded', ...about, data: {} };
  if (ending.status === 'CANCELED') return { type: 'file.generation.canceled', ...about, data: {} };
  return { type: 'file.generation.failed', ...about, data: { error: { code: ending.error.code } } };
}

/**
 * Ends a generation with its file. Returns its event, or undefined if it had ended. Schedules the deletion of blobs that the
 * file does not use.
 */
export async function endFile(
  trx: Writer,
  held: StoredGeneration,
  ending: Ending,
  at: string,
): Promise<EndEvent | undefined> {
  const { file_id: fileId } = held;
  const result = parseJson(held.result);
  if ((await endGeneration(trx, fileId, ending, at)) === undefined) return undefined;
  if (ending.status === 'SUCCEEDED' && result !== null) {
    await deleteUploadRow(trx, fileId);
    const { storageKey, mimeType, size, sha256 } = result;
    const content = { storage_key: storageKey, mime_type: mimeType, size, sha256 };
    const ended = await setFinalStatus(trx, fileId, 'GENERATING', { status: 'UPLOADED', ...content }, at);
    if (ended === undefined) return undefined;
    await addMediaTask(trx, { id: fileId, ...ended, mime_type: mimeType });
    return endEvent(ended.project_id, fileId, ending);
  }
  await dropUploads(trx, [fileId], at);
  if (result !== null) await scheduleBlobDeletion(trx, [{ key: result.storageKey, upload: null }], at);
  const status = ending.status === 'CANCELED' ? 'CANCELED' : 'FAILED';
  const ended = await setFinalStatus(trx, fileId, 'GENERATING', { status }, at);
  return ended && endEvent(ended.project_id, fileId, ending);
}
