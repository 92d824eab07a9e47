import type { FileRecord, Generation } from '@review/contract';
import { toMedia } from '../media/response.ts';
import type { ShownFile } from './queries.ts';

/** Returns the API record of a file. */
export const toFileRecord = (
  file: ShownFile,
  generation: Generation | null,
  thumbnailUrl: string | null,
): FileRecord => ({
  id: file.id,
  name: file.name,
  description: file.description,
  mode: file.mode,
  status: file.status,
  tag: file.tag,
  mimeType: file.mime_type,
  size: file.size,
  sha256: file.sha256,
  allowRestricted: file.allow_restricted === 1,
  project: { id: file.project_id },
  folder: file.folder_id === null ? null : { id: file.folder_id },
  createdBy: { id: file.created_by },
  generation,
  media: toMedia(file),
  thumbnailUrl,
  createdAt: file.created_at,
  updatedAt: file.updated_at,
});
