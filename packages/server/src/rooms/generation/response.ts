import type { Generation, ProjectRole, WaitingFor } from '@review/contract';
import { isRestricted } from '../visibility.ts';
import { findGenerations, type StoredGeneration } from './queries.ts';
import { findWaitingReasons, type QueueDeps } from './waiting.ts';

/** Returns the API records of the generations of several files, redacted for restricted reviewers. */
export async function generationRecords(
  deps: QueueDeps,
  fileIds: string[],
  role: ProjectRole,
): Promise<Map<string, Generation>> {
  const found = await findGenerations(deps.db, fileIds);
  const reasons = await findWaitingReasons(deps, [...found.values()]);
  return new Map(
    [...found].map(([id, generation]) => [id, toGenerationRecord(generation, reasons.get(id) ?? null, role)]),
  );
}

const toGenerationRecord = (
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
  ...(isRestricted(role) ? redact(generation) : inFull(generation)),
});

type Sensitive = Pick<Generation, 'prompt' | 'attachments' | 'error' | 'warnings'>;

const inFull = ({ prompt, attachments, error, warnings }: StoredGeneration & { attachments: string[] }): Sensitive => ({
  prompt,
  attachments: attachments.map((id) => ({ id })),
  error,
  warnings,
});

/** Removes prompt and attachments, and messages that could quote them. */
const redact = ({ error }: StoredGeneration): Sensitive => ({
  prompt: null,
  attachments: [],
  error: error && { ...error, message: 'The generation failed.' },
  warnings: [],
});
