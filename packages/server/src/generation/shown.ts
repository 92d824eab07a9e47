import type { Generation, WaitingFor } from '@review/contract';
import { findGenerations, type StoredGeneration } from './queries.ts';
import { findWaitingReasons, type QueueDeps } from './waiting.ts';

/** The generations of several files as the API shows them. */
export async function shownGenerations(deps: QueueDeps, fileIds: string[]): Promise<Map<string, Generation>> {
  const found = await findGenerations(deps.db, fileIds);
  const reasons = await findWaitingReasons(deps, [...found.values()]);
  return new Map([...found].map(([id, generation]) => [id, shownGeneration(generation, reasons.get(id) ?? null)]));
}

const shownGeneration = (
  generation: StoredGeneration & { attachments: string[] },
  waitingFor: WaitingFor | null,
): Generation => ({
  status: generation.status,
  waitingFor,
  outputType: generation.outputType,
  outputModel: generation.outputModel,
  prompt: generation.prompt,
  configs: generation.configs,
  attachments: generation.attachments.map((id) => ({ id })),
  progress: generation.progress,
  provider: generation.provider,
  error: generation.error,
  warnings: generation.warnings,
  queuedAt: generation.queuedAt,
  startedAt: generation.startedAt,
  finishedAt: generation.finishedAt,
});
