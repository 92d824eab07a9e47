import type { Family } from '@review/contract';
import type { Insertable, Selectable } from 'kysely';
import { locked } from '../../db/locked.ts';
import { prepared } from '../../db/prepared.ts';
import type { Schema, Writer } from '../../db/schema.ts';

export type PausedFamily = Selectable<Schema['paused_families']>;

/** Locks the assignment of slots until the transaction ends. */
export const lockGate = prepared.run((db) => locked(db, db.selectFrom('generation_gate').select('id')));

export const listPaused = prepared.all((db) => db.selectFrom('paused_families').selectAll());

/** Pauses a family. Returns false if it was paused; it then has the new reason. No generation of it starts after the commit. */
export async function pauseFamily(trx: Writer, paused: Insertable<Schema['paused_families']>): Promise<boolean> {
  await lockGate(trx);
  const deleted = await deletePaused(trx, paused.family);
  await trx.insertInto('paused_families').values(paused).execute();
  return !deleted;
}

/** Resumes a family. Returns false if it was not paused. */
export const resumeFamily = (trx: Writer, family: Family): Promise<boolean> => deletePaused(trx, family);

async function deletePaused(trx: Writer, family: Family): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('paused_families')
    .where('family', '=', family)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
