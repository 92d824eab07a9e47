import { sql } from 'kysely';
import { type Check, type Diagnosed, failed, type Outcome, ok, warning } from './finding.ts';

const WARNING_SECONDS = 3;
/** Access tokens, presigned URLs and leases are then wrong. S3 refuses requests at 15 minutes. */
const FAILED_SECONDS = 60;

/** Compares the host's clock with those of Postgres and of S3. */
export const checkClock: Check = async (deps) => {
  const outcomes = (await Promise.all([compare('Postgres', postgresTime(deps)), compare('S3', s3Time(deps))])).flat();
  return outcomes.length > 0 ? outcomes : [ok("Database and storage use this host's clock.")];
};

/** The halfway point of the request is the best guess of the time at which the other side read its clock. */
async function compare(name: string, time: Promise<number | null>): Promise<Outcome[]> {
  const asked = Date.now();
  const theirs = await time;
  if (theirs === null) return [];
  const seconds = Math.round((theirs - (asked + Date.now()) / 2) / 1000);
  const message =
    seconds === 0
      ? `The clock of ${name} agrees with this host's.`
      : `The clock of ${name} is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this host's.`;
  const advice = 'Synchronize the clocks of all hosts (NTP).';
  if (Math.abs(seconds) >= FAILED_SECONDS) return [failed(message, advice)];
  return [Math.abs(seconds) >= WARNING_SECONDS ? warning(message, advice) : ok(message)];
}

async function postgresTime({ db, opened }: Diagnosed): Promise<number | null> {
  if (opened.dialect === 'sqlite') return null;
  const { rows } = await sql<{
    at: number;
  }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as at`.execute(db);
  return rows[0]?.at ?? null;
}

/** Any response has a Date, also that about a missing object. */
async function s3Time({ storage }: Diagnosed): Promise<number | null> {
  if (storage.router !== undefined) return null;
  const url = await storage.downloadUrl('doctor-clock', { name: 'clock', mimeType: 'text/plain' }, 60);
  const response = await fetch(url).catch(() => null);
  await response?.body?.cancel();
  const date = response?.headers.get('date');
  return date ? Date.parse(date) : null;
}
