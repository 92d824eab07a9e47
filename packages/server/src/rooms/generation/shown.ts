import type { Generation, ProjectRole, WaitingFor } from '@review/contract';
import { isRestricted } from '../visibility.ts';
import { findGenerations, type StoredGeneration } from './queries.ts';
import { findWaitingReasons, type QueueDeps } from './waiting.ts';

/** The generations of several files as the API shows them to that role. */
export async function shownGenerations(
  deps: QueueDeps,
  fileIds: string[],
  role: ProjectRole,
): Promise<Map<string, Generation>> {
  const found = await findGenerations(deps.db, fileIds);
  const reasons = await findWaitingReasons(deps, [...found.values()]);
  return new Map(
    [...found].map(([id, generation]) => [id, shownGeneration(generation, reasons.get(id) ?? null, role)]),
  );
}

const shownGeneration = (
  generation: StoredGeneration & { attachments: string[] },
  waitingFor: WaitingFor | null,
  role: ProjectRole,
): Generation => ({
  status: generation.status,
  waitingFor,
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
