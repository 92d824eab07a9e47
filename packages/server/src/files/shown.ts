import type { FileRecord, ProjectRole } from '@review/contract';
import { shownGeneration } from '../generation/shown.ts';
import type { StoredFile } from './queries.ts';

type ShownGeneration = Parameters<typeof shownGeneration>[0];

/** A file as the API shows it to that role. */
export const shownFile = (file: StoredFile, role: ProjectRole, generation?: ShownGeneration): FileRecord => ({
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
  generation: generation ? shownGeneration(generation, role) : null,
  createdAt: file.createdAt,
  updatedAt: file.updatedAt,
});
