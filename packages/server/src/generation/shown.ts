import type { Generation, ProjectRole } from '@review/contract';
import { isRestricted } from '../projects/queries.ts';
import type { StoredGeneration } from './queries.ts';

/** A generation as the API shows it to that role. */
export const shownGeneration = (
  generation: StoredGeneration & { attachments: string[] },
  role: ProjectRole,
): Generation => ({
  status: generation.status,
  outputType: generation.outputType,
  outputModel: generation.outputModel,
  configs: generation.configs,
  progress: generation.progress,
  provider: generation.provider,
  queuedAt: generation.queuedAt,
  startedAt: generation.startedAt,
  finishedAt: generation.finishedAt,
  ...(isRestricted(role) ? redacted(generation) : inFull(generation)),
});

type Told = Pick<Generation, 'prompt' | 'attachments' | 'error' | 'warnings'>;

const inFull = ({ prompt, attachments, error, warnings }: StoredGeneration & { attachments: string[] }): Told => ({
  prompt,
  attachments: attachments.map((id) => ({ id })),
  error,
  warnings,
});

/** Without what the file was made from: messages can name an attachment or repeat the prompt. */
const redacted = ({ error }: StoredGeneration): Told => ({
  prompt: null,
  attachments: [],
  error: error && { ...error, message: 'The generation failed.' },
  warnings: [],
});
