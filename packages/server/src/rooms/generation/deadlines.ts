import type { GenerationError, WaitingFor } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import { now } from '../../db/time.ts';
import type { Deps } from '../../deps.ts';
import { writeWithEvents } from '../events/outbox.ts';
import { findUpload } from '../uploads/queries.ts';
import { endFile } from './end.ts';
import { findGeneration, findOverdue, lockHeld, type StoredGeneration } from './queries.ts';
import { findWaitingReasons } from './waiting.ts';

const INTERVAL_MS = 1000;

type Watched = Pick<Deps, 'db' | 'projectNotifier' | 'clock' | 'config' | 'watch' | 'queueNotifier' | 'storage'>;

/** Fails generations that are queued or running past their deadline. */
export async function endOverdue(deps: Watched): Promise<void> {
  const { db, clock, watch, queueNotifier } = deps;
  for (const fileId of await findOverdue(db, clock())) {
    const found = await findGeneration(db, fileId);
    if (found === undefined) continue;
    const error = found.status === 'QUEUED' ? await queueTimeout(deps, found) : await runTimeout(deps, fileId);
    const ended = await writeWithEvents(deps, null, async (trx) => {
      const held = await lockHeld(trx, fileId, found.epoch);
      // It was started or reassigned meanwhile; the next check decides again.
      if (held?.status !== found.status) return { answer: false, events: [] };
      const ending = { status: 'FAILED', error, warnings: parseJson(held.warnings) } as const;
      const event = await endFile(trx, held, ending, now());
      return { answer: event !== undefined, events: event ? [event] : [] };
    });
    if (ended) watch.changed(fileId);
    queueNotifier.notify();
  }
}

/** Retryable, because it never started. */
async function queueTimeout(deps: Watched, generation: StoredGeneration): Promise<GenerationError> {
  const reason = (await findWaitingReasons(deps, [generation])).get(generation.file_id) ?? 'SLOT';
  const minutes = Math.round(deps.config.generation.queueDeadline / 60);
  return timeout(
    'PROVIDER_UNAVAILABLE',
    `It waited for ${minutes} minutes and was not started. ${STILL_WAITING[reason]}`,
  );
}

const STILL_WAITING: Record<WaitingFor, string> = {
  WORKER: 'No worker that can run it is alive.',
  PAUSED: 'The operator has paused its model family.',
  SLOT: 'No slot became free in that time.',
  FAMILY_CAP: 'No slot became free in that time.',
};

/** Blames the storage instead of the provider if the result was being uploaded. */
async function runTimeout({ db, storage }: Watched, fileId: string): Promise<GenerationError> {
  const upload = await findUpload(db, fileId);
  if (upload?.completed_with !== null) return timeout('PROVIDER_TIMEOUT', 'The provider did not finish in time.');
  if (!(await storage.isReachable()))
    return timeout('INTERNAL', 'The result could not be stored in time: the storage did not answer.');
  return timeout('STORAGE_FULL', 'The result could not be stored in time; the storage may be full.');
}

const timeout = (code: GenerationError['code'], message: string): GenerationError => ({
  code,
  message,
  retryable: true,
});

export function startDeadlineChecks(deps: Deps): Disposable {
  let running = false;
  const timer = setInterval(async () => {
    if (running) return;
    running = true;
    await endOverdue(deps).catch((error: unknown) => deps.log.warn({ err: error }, 'deadlines not checked'));
    running = false;
  }, INTERVAL_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
