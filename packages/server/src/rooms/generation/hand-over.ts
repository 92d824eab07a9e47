import { type Engine, OPEN_GENERATION_STATUSES } from '@review/contract';
import type { Moment } from '../../db/clock.ts';
import type { Database } from '../../db/schema.ts';

/** The lease owner of a generation until its workflow is started. */
export const DISPATCHER = 'dispatcher';

export interface HandedOver {
  fileId: string;
  epoch: number;
}

/**
 * Moves open generations of another engine to this one. The new epoch fences off the old holder, and the expired lease
 * makes the new engine claim them first.
 */
export async function takeOver(db: Database, engine: Engine, now: Moment): Promise<void> {
  await db
    .updateTable('generations')
    .set((eb) => ({ engine, epoch: eb('epoch', '+', 1), lease_owner: DISPATCHER, lease_until: now }))
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .where('engine', 'is not', null)
    .where('engine', '!=', engine)
    .execute();
}

/** Removes the lease of a generation whose workflow was started: Temporal keeps track of it. */
export async function setDispatched(db: Database, { fileId, epoch }: HandedOver): Promise<void> {
  await setLease(db, fileId, epoch, null);
}

/** Expires the lease of a generation whose workflow could not be started, so that it is claimed again. */
export async function setUndispatched(db: Database, { fileId, epoch }: HandedOver, now: Moment): Promise<void> {
  await setLease(db, fileId, epoch, now);
}

async function setLease(db: Database, fileId: string, epoch: number, until: Moment | null): Promise<void> {
  await db
    .updateTable('generations')
    .set({ lease_until: until })
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('engine', '=', 'temporal')
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .execute();
}

/** Returns the open generations whose workflow was started. */
export async function listDispatched(db: Database): Promise<HandedOver[]> {
  return db
    .selectFrom('generations')
    .select(['file_id as fileId', 'epoch'])
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .where('engine', '=', 'temporal')
    .where('lease_until', 'is', null)
    .execute();
}

/** Requeues a generation for dispatch under a new epoch, which fences off the old workflow. Only one caller succeeds. */
export async function requeueDispatch(db: Database, { fileId, epoch }: HandedOver, now: Moment): Promise<boolean> {
  const result = await db
    .updateTable('generations')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: DISPATCHER, lease_until: now }))
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('engine', '=', 'temporal')
    .where('lease_until', 'is', null)
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
