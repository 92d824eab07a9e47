import { now } from './db/time.ts';
import type { Deps } from './deps.ts';
import { deleteExpiredKeys } from './http/idempotency.ts';
import { deleteDueProjects } from './projects/queries.ts';

const INTERVAL_MS = 10 * 60 * 1000;

/** Removes what has had its time. Several servers may do so at once: each deletion is one statement. */
export async function sweep({ db, log }: Pick<Deps, 'db' | 'log'>): Promise<void> {
  await deleteExpiredKeys(db);
  const projects = await deleteDueProjects(db, now());
  if (projects > 0) log.info({ projects }, 'projects whose deletion was due are gone');
}

export function startSweeper(deps: Deps): Disposable {
  const run = () => sweep(deps).catch((error: unknown) => deps.log.error({ err: error }, 'the sweep failed'));
  void run();
  const timer = setInterval(run, INTERVAL_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
