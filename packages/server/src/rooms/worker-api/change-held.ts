import type { StepRecord, Submitted } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import type { Writer } from '../../db/schema.ts';
import { timestamp } from '../../db/time.ts';
import { ProblemError } from '../../request/problem.ts';
import { type Outbox, type Written, writeWithEvents } from '../events/outbox.ts';
import { insertSteps, lockHeld, type NewStep, type StoredGeneration, updateStages } from '../generation/queries.ts';

/** The part of a worker's report that every change has. */
export interface Report {
  epoch: number;
  steps?: StepRecord[] | undefined;
}

/** Runs a change with the generation locked, and records the reported steps. Throws NOT_FOUND if the epoch is not current. */
export const changeHeld = <T>(
  outbox: Outbox,
  fileId: string,
  { epoch, steps = [] }: Report,
  work: (trx: Writer, held: StoredGeneration) => Promise<Written<T>>,
): Promise<T> =>
  writeWithEvents(outbox, null, async (trx) => {
    const held = await lockHeld(trx, fileId, epoch);
    if (held === undefined) throw new ProblemError('NOT_FOUND');
    await recordSteps(trx, fileId, steps.map(toNewStep));
    return work(trx, held);
  });

/** Records the provider's reference to the job of a stage. */
export async function recordJob(trx: Writer, held: StoredGeneration, { stage, job, jobId }: Submitted): Promise<void> {
  const stages = parseJson(held.stages);
  const intents = stages[stage]?.intents ?? 1;
  await updateStages(trx, held.file_id, { ...stages, [stage]: { intents, job: job ?? null } }, jobId);
}

/** The result of a change that no reader of the API sees. */
export const UNSEEN: Written<undefined> = { answer: undefined, events: [] };

export async function recordSteps(trx: Writer, fileId: string, steps: NewStep[]): Promise<void> {
  if (steps.length > 0) await insertSteps(trx, { fileId, steps });
}

export function toNewStep({ id, ago, milliseconds, message, ...step }: StepRecord): NewStep {
  const finishedAt = Math.round(Date.now() - ago);
  return {
    ...step,
    // Postgres stores neither NUL nor half a surrogate pair.
    message: message?.replaceAll('\0', '').toWellFormed() ?? null,
    started_at: timestamp((finishedAt - Math.round(milliseconds)) * 1000),
    finished_at: timestamp(finishedAt * 1000),
    record_id: id,
  };
}

/** The end of a generation, recorded in its transaction, because no step can be recorded afterwards. */
export const finishStep = (startedAt: string, finishedAt: string): NewStep => ({
  name: 'finish',
  attempt: null,
  outcome: 'SUCCEEDED',
  message: null,
  started_at: startedAt,
  finished_at: finishedAt,
  record_id: null,
});
