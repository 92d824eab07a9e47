import type { GenerationError } from '@review/contract';
import { now } from '../../db/time.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Deps } from '../../deps.ts';
import { findUpload } from '../uploads/queries.ts';
import { endFile } from './end.ts';
import { findGeneration, findOverdue, lockHeld, type StoredGeneration } from './queries.ts';
import { findWaitingReasons } from './waiting.ts';

const EVERY_MS = 1000;

type Watched = Pick<Deps, 'db' | 'clock' | 'config' | 'watch' | 'queueNotifier' | 'storage'>;

/** Fails generations that wait or run past their deadline, whatever has become of their worker. */
export async function endOverdue(deps: Watched): Promise<void> {
  const { db, clock, watch, queueNotifier } = deps;
  for (const fileId of await findOverdue(db, clock())) {
    const found = await findGeneration(db, fileId);
    if (found === undefined) continue;
    const error = found.status === 'QUEUED' ? await reasonOfWait(deps, found) : await reasonOf(deps, fileId);
    const ended = await inTransaction(db, async (trx) => {
      const held = await lockHeld(trx, fileId, found.epoch);
      // It was started or handed on meanwhile: the next look judges it anew.
      if (held?.status !== found.status) return false;
      return endFile(trx, held, { status: 'FAILED', error, warnings: held.warnings }, now());
    });
    if (ended) watch.changed(fileId);
    queueNotifier.notify();
  }
}

/** Retryable: it never started, so a new order may succeed. */
async function reasonOfWait(deps: Watched, generation: StoredGeneration): Promise<GenerationError> {
  const reason = (await findWaitingReasons(deps, [generation])).get(generation.fileId);
  const why =
    reason === 'WORKER' ? 'No worker that can make it is running.' : 'There was no free place for it in that time.';
  const minutes = Math.round(deps.config.generation.queueDeadline / 60);
  return late('PROVIDER_UNAVAILABLE', `It waited for ${minutes} minutes and was not started. ${why}`);
}

/** A result that was on its way into the storage is not the provider's delay. */
async function reasonOf({ db, storage }: Watched, fileId: string): Promise<GenerationError> {
  const upload = await findUpload(db, fileId);
  if (upload?.completedWith !== null) return late('PROVIDER_TIMEOUT', 'The provider did not finish in time.');
  if (!(await storage.isReachable())) return late('INTERNAL', 'The storage did not answer in time to take the result.');
  return late('STORAGE_FULL', 'The storage did not take the result in time; it may be full.');
}

const late = (code: GenerationError['code'], message: string): GenerationError => ({ code, message, retryable: true });

export function keepDeadlines(deps: Deps): Disposable {
  let running = false;
  const timer = setInterval(async () => {
    if (running) return;
    running = true;
    await endOverdue(deps).catch((error: unknown) => deps.log.warn({ err: error }, 'deadlines could not be looked at'));
    running = false;
  }, EVERY_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
