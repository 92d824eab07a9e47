import type { FamilyState } from '@review/contract';
import type { Database, Writer } from '../db/schema.ts';

export async function recordFamilies(trx: Writer, worker: string, states: FamilyState[], at: string): Promise<void> {
  // One row per family: Postgres refuses a statement that changes a row twice.
  const families = [...new Map(states.map((state) => [state.family, state])).values()];
  if (families.length === 0) return;
  await trx
    .insertInto('provider_reports')
    .values(
      families.map(({ family, state, reason }) => ({ family, state, reason: reason ?? null, worker, reported_at: at })),
    )
    .onConflict((conflict) =>
      conflict.column('family').doUpdateSet((eb) => ({
        state: eb.ref('excluded.state'),
        reason: eb.ref('excluded.reason'),
        worker: eb.ref('excluded.worker'),
        reported_at: eb.ref('excluded.reported_at'),
      })),
    )
    .execute();
}

/** Each family as a worker has reported it last. */
export const listReports = (db: Database) =>
  db
    .selectFrom('provider_reports')
    .select(['family', 'state', 'reason', 'worker', 'reported_at as reportedAt'])
    .orderBy('family')
    .execute();
