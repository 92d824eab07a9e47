import { type Engine, OPEN_GENERATION_STATUSES } from '@review/contract';
import { type Moment, timeOf } from '../../db/clock.ts';
import { type Params, prepared } from '../../db/prepared.ts';
import type { Database } from '../../db/schema.ts';
import { inStatement } from '../../db/transaction.ts';
import { OPEN } from './queries.ts';

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
export async function setDispatched(db: Database, handed: HandedOver): Promise<void> {
  await inStatement(db, (trx) => clearLease(trx, handed));
}

/** Expires the lease of a generation whose workflow could not be started, so that it is claimed again. */
export async function setUndispatched(db: Database, handed: HandedOver, now: Moment): Promise<void> {
  await inStatement(db, (trx) => expireLease(trx, { ...handed, now }));
}

const dispatched = (db: Database, { fileId, epoch }: Params<HandedOver>) =>
  db
    .updateTable('generations')
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('engine', '=', 'temporal')
    .where('status', 'in', OPEN);

const clearLease = prepared.run((db, { fileId, epoch }: Params<HandedOver>) =>
  dispatched(db, { fileId, epoch }).set({ lease_until: null }),
);

const expireLease = prepared.run((db, { now, fileId, epoch }: Params<HandedOver & { now: Moment }>) =>
  dispatched(db, { fileId, epoch }).set({ lease_until: timeOf(db, now) }),
);

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
