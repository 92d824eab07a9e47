import type { Database } from '../db/schema.ts';

/** The families for which a worker has reported a key. */
export async function findLiveFamilies(db: Database): Promise<Set<string>> {
  const rows = await db.selectFrom('provider_reports').select('family').where('state', '=', 'live').execute();
  return new Set(rows.map((row) => row.family));
}
