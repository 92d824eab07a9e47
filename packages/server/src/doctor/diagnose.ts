import { setTimeout as delay } from 'node:timers/promises';
import { checkCertificates } from './certificates.ts';
import { checkClock } from './clock.ts';
import { checkConnections, checkDatabase, checkMigrations } from './database.ts';
import { type Check, type Diagnosed, type Finding, failed, reasonOf } from './finding.ts';
import { checkPublicUrl } from './public-url.ts';
import { checkSettings } from './settings.ts';
import { checkDiskSpace, checkStorage } from './storage.ts';
import { checkEngine, checkProviders, checkVersions, checkWorkers } from './workers.ts';

const TIMEOUT_SECONDS = 10;

const CHECKS: Record<string, Check> = {
  settings: checkSettings,
  storage: checkStorage,
  'disk space': checkDiskSpace,
  engine: checkEngine,
  'public address': checkPublicUrl,
};

/** Skipped without a database, whose finding says enough. */
const DATABASE_CHECKS: Record<string, Check> = {
  migrations: checkMigrations,
  connections: checkConnections,
  clock: checkClock,
  certificates: checkCertificates,
  workers: checkWorkers,
  versions: checkVersions,
  providers: checkProviders,
};

/** Runs all checks at once. Changes nothing but a small object in the storage, which it deletes. */
export async function diagnose(deps: Diagnosed): Promise<Finding[]> {
  const database = await run('database', checkDatabase, deps);
  const isUp = database.every(({ status }) => status !== 'failed');
  const checks = Object.entries({ ...CHECKS, ...(isUp && DATABASE_CHECKS) });
  return [database, ...(await Promise.all(checks.map(([name, check]) => run(name, check, deps))))].flat();
}

async function run(name: string, check: Check, deps: Diagnosed): Promise<Finding[]> {
  const timer = new AbortController();
  const late = async () => {
    await delay(TIMEOUT_SECONDS * 1000, undefined, { signal: timer.signal });
    throw new Error(`no answer within ${TIMEOUT_SECONDS} seconds`);
  };
  try {
    const outcomes = await Promise.race([check(deps), late()]);
    return outcomes.map((outcome) => ({ name, ...outcome }));
  } catch (error) {
    return [
      { name, ...failed(`The check failed: ${reasonOf(error)}.`, 'Solve this error, and run the checks again.') },
    ];
  } finally {
    timer.abort();
  }
}
