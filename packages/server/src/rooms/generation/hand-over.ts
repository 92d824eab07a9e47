import type { Engine } from '@review/contract';
import type { Expression } from 'kysely';
import type { Database } from '../../db/schema.ts';

/** Who holds the lease of a generation until its workflow is started. */
export const DISPATCHER = 'dispatcher';

const OPEN = ['QUEUED', 'RUNNING'] as const;

export interface HandedOver {
  fileId: string;
  epoch: number;
}

/**
 * Where another engine is chosen than the one that held them, open generations go on under the new one: the epoch shuts
 * the old holder out, and a lease that has run out makes the new one look at them first.
 */
export async function takeOver(db: Database, engine: Engine, now: Expression<string>): Promise<void> {
  await db
    .updateTable('generations')
    .set((eb) => ({ engine, epoch: eb('epoch', '+', 1), lease_owner: DISPATCHER, lease_until: now }))
    .where('status', 'in', OPEN)
    .where('engine', 'is not', null)
    .where('engine', '!=', engine)
    .execute();
}

/** Its workflow runs: from now on Temporal keeps track of it. */
export async function setDispatched(db: Database, { fileId, epoch }: HandedOver): Promise<void> {
  await setLease(db, fileId, epoch, null);
}

/** Its workflow could not be started: the next look at the leases finds it. */
export async function setUndispatched(
  db: Database,
  { fileId, epoch }: HandedOver,
  now: Expression<string>,
): Promise<void> {
  await setLease(db, fileId, epoch, now);
}

async function setLease(db: Database, fileId: string, epoch: number, until: Expression<string> | null): Promise<void> {
  await db
    .updateTable('generations')
    .set({ lease_until: until })
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('engine', '=', 'temporal')
    .where('status', 'in', OPEN)
    .execute();
}

/** The open generations that have a workflow, as far as the rows know. */
export async function listDispatched(db: Database): Promise<HandedOver[]> {
  return db
    .selectFrom('generations')
    .select(['file_id as fileId', 'epoch'])
    .where('status', 'in', OPEN)
    .where('engine', '=', 'temporal')
    .where('lease_until', 'is', null)
    .execute();
}

/** To be started anew, under an epoch that shuts out whatever was there; once, however many ask for it. */
export async function handOverAgain(
  db: Database,
  { fileId, epoch }: HandedOver,
  now: Expression<string>,
): Promise<boolean> {
  const result = await db
    .updateTable('generations')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: DISPATCHER, lease_until: now }))
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('engine', '=', 'temporal')
    .where('lease_until', 'is', null)
    .where('status', 'in', OPEN)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
