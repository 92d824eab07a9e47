import { now } from '../db/time.ts';
import { inTransaction } from '../db/transaction.ts';
import type { Deps } from '../deps.ts';
import { endFile } from './end.ts';
import { findGeneration, findOverdue } from './queries.ts';

const EVERY_MS = 1000;

/** Fails generations that run past their deadline, whatever has become of their worker. */
export async function endOverdue({ db, watch, bell }: Pick<Deps, 'db' | 'watch' | 'bell'>): Promise<void> {
  for (const fileId of await findOverdue(db, now())) {
    const ended = await inTransaction(db, async (trx) => {
      const generation = await findGeneration(trx, fileId);
      const error = {
        code: 'PROVIDER_TIMEOUT',
        message: 'The provider did not finish in time.',
        retryable: true,
      } as const;
      return generation && endFile(trx, generation, { status: 'FAILED', error, warnings: generation.warnings }, now());
    });
    if (ended) watch.changed(fileId);
    bell.ring();
  }
}

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
