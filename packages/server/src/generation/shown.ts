import type { Generation } from '@review/contract';
import type { StoredGeneration } from './queries.ts';

/** A generation as the API shows it. */
export const shownGeneration = (generation: StoredGeneration & { attachments: string[] }): Generation => ({
  status: generation.status,
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
