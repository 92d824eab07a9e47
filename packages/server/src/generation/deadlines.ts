import type { GenerationError } from '@review/contract';
import { now } from '../db/time.ts';
import { inTransaction } from '../db/transaction.ts';
import type { Deps } from '../deps.ts';
import { findUpload } from '../uploads/queries.ts';
import { steadyTime } from './clock.ts';
import { endFile } from './end.ts';
import { findGeneration, findOverdue } from './queries.ts';

const EVERY_MS = 1000;

type Watched = Pick<Deps, 'db' | 'watch' | 'bell' | 'storage'>;

/** Fails generations that run past their deadline, whatever has become of their worker. */
export async function endOverdue(deps: Watched): Promise<void> {
  const { db, watch, bell } = deps;
  for (const fileId of await findOverdue(db, steadyTime())) {
    const error = await reasonOf(deps, fileId);
    const ended = await inTransaction(db, async (trx) => {
      const generation = await findGeneration(trx, fileId);
      return generation && endFile(trx, generation, { status: 'FAILED', error, warnings: generation.warnings }, now());
    });
    if (ended) watch.changed(fileId);
    bell.ring();
  }
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
