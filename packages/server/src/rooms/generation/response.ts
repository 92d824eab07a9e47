import type { Generation, GenerationStep, ProjectRole, WaitingFor } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import { isRestricted } from '../visibility.ts';
import { findGenerations, type StoredGeneration, type StoredStep } from './queries.ts';
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
  outputType: generation.output_type,
  outputModel: generation.output_model,
  configs: parseJson(generation.configs),
  progress: generation.progress,
  provider: generation.provider,
  queuedAt: generation.queued_at,
  startedAt: generation.started_at,
  finishedAt: generation.finished_at,
  ...(isRestricted(role) ? redact(generation) : inFull(generation)),
});

type Sensitive = Pick<Generation, 'prompt' | 'attachments' | 'error' | 'warnings'>;

const inFull = ({ prompt, attachments, error, warnings }: StoredGeneration & { attachments: string[] }): Sensitive => ({
  prompt,
  attachments: attachments.map((id) => ({ id })),
  error: parseJson(error),
  warnings: parseJson(warnings),
});

/** Removes prompt and attachments, and messages that could quote them. */
function redact(generation: StoredGeneration): Sensitive {
  const error = parseJson(generation.error);
  return {
    prompt: null,
    attachments: [],
    error: error && { ...error, message: 'The generation failed.' },
    warnings: [],
  };
}

export const toStepRecord = (step: StoredStep): GenerationStep => ({
  name: step.name,
  attempt: step.attempt,
  startedAt: step.started_at,
  finishedAt: step.finished_at,
  outcome: step.outcome,
  message: step.message,
});
