import type { FileRecord } from '@review/contract';
import { shownGeneration } from '../generation/shown.ts';
import type { StoredFile } from './queries.ts';

type ShownGeneration = Parameters<typeof shownGeneration>[0];

/** A file as the API shows it. */
export const shownFile = (file: StoredFile, generation?: ShownGeneration): FileRecord => ({
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
  generation: generation ? shownGeneration(generation) : null,
  createdAt: file.createdAt,
  updatedAt: file.updatedAt,
});
