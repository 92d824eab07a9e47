import type { FileRecord, Generation } from '@review/contract';
import type { StoredFile } from './queries.ts';

/** Returns the API record of a file. */
export const toFileRecord = (file: StoredFile, generation: Generation | null): FileRecord => ({
  id: file.id,
  name: file.name,
  description: file.description,
  mode: file.mode,
  status: file.status,
  tag: file.tag,
  mimeType: file.mimeType,
  size: file.size,
  sha256: file.sha256,
  allowRestricted: file.allowRestricted,
  project: { id: file.projectId },
  folder: file.folderId === null ? null : { id: file.folderId },
  createdBy: { id: file.createdBy },
  generation,
  createdAt: file.createdAt,
  updatedAt: file.updatedAt,
});
