import { type GenerationError, OPEN_GENERATION_STATUSES, type Provider } from '@review/contract';
import type { Expression, Insertable, Selectable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import type { Database, Schema, StoredResult, StoredStage, Writer } from '../../db/schema.ts';

export type StoredGeneration = Selectable<Schema['generations']>;

type NewGeneration = Omit<
  Insertable<Schema['generations']>,
  'status' | 'progress' | 'stages' | 'warnings' | 'epoch' | 'deadline_at'
> & {
  /** The queue deadline. */
  deadline_at: Expression<string>;
};

export async function insertGeneration(
  trx: Writer,
  generation: NewGeneration,
  attachments: readonly string[],
): Promise<void> {
  await trx
    .insertInto('generations')
    .values({ ...generation, status: 'QUEUED', progress: 0, stages: '{}', warnings: '[]', epoch: 0 })
    .execute();
  if (attachments.length === 0) return;
  await trx
    .insertInto('generation_attachments')
    .values(attachments.map((id, position) => ({ file_id: generation.file_id, attachment_id: id, position })))
    .execute();
}

/** Serialises counting per workspace. The update locks the row on both databases. */
export async function lockWorkspace(trx: Writer, id: string): Promise<void> {
  await trx
    .updateTable('workspaces')
    .set((eb) => ({ id: eb.ref('id') }))
    .where('id', '=', id)
    .execute();
}

export async function countWaiting(db: Database, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('generations')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'QUEUED')
    .where('engine', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export async function findGeneration(db: Database, fileId: string): Promise<StoredGeneration | undefined> {
  return db.selectFrom('generations').selectAll().where('file_id', '=', fileId).executeTakeFirst();
}

/** Returns the generations of several files with the ids of their attachments. */
export async function findGenerations(
  db: Database,
  fileIds: string[],
): Promise<Map<string, StoredGeneration & { attachments: string[] }>> {
  if (fileIds.length === 0) return new Map();
  const rows = await db.selectFrom('generations').selectAll().where('file_id', 'in', anyOf(fileIds)).execute();
  const attached = await listAttachments(db, fileIds);
  return new Map(rows.map((row) => [row.file_id, { ...row, attachments: attached.get(row.file_id) ?? [] }]));
}

async function listAttachments(db: Database, fileIds: string[]): Promise<Map<string, string[]>> {
  const rows = await db
    .selectFrom('generation_attachments')
    .select(['file_id', 'attachment_id'])
    .where('file_id', 'in', anyOf(fileIds))
    .orderBy('file_id')
    .orderBy('position')
    .execute();
  const byFile = Map.groupBy(rows, (row) => row.file_id);
  return new Map([...byFile].map(([id, held]) => [id, held.map((row) => row.attachment_id)]));
}

/**
 * Returns the open generation if the epoch is current, locked until the transaction ends. Updates are limited to open
 * generations, because an ended one never changes.
 */
export async function lockHeld(trx: Writer, fileId: string, epoch: number): Promise<StoredGeneration | undefined> {
  return trx
    .updateTable('generations')
    .set((eb) => ({ epoch: eb.ref('epoch') }))
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .returningAll()
    .executeTakeFirst();
}

interface Start {
  stages: Record<string, StoredStage>;
  provider: Provider;
  startedAt: string;
  deadlineAt: Expression<string>;
}

/** Records a reserved submit. The first one starts the generation and replaces the queue deadline by the run deadline. */
export async function recordSubmit(trx: Writer, fileId: string, start: Start): Promise<void> {
  await trx
    .updateTable('generations')
    .set((eb) => ({
      status: 'RUNNING',
      stages: JSON.stringify(start.stages),
      provider: start.provider,
      started_at: eb.fn.coalesce('started_at', eb.val(start.startedAt)),
      deadline_at: eb.case().when('status', '=', 'RUNNING').then(eb.ref('deadline_at')).else(start.deadlineAt).end(),
    }))
    .where('file_id', '=', fileId)
    .execute();
}

export async function updateStages(
  trx: Writer,
  fileId: string,
  stages: Record<string, StoredStage>,
  providerJobId?: string | null,
): Promise<void> {
  await trx
    .updateTable('generations')
    .set({
      stages: JSON.stringify(stages),
      ...(providerJobId !== undefined && { provider_job_id: providerJobId }),
    })
    .where('file_id', '=', fileId)
    .execute();
}

/** Stores the progress if it has increased. Returns false if the epoch is not current. */
export async function updateProgress(db: Database, fileId: string, epoch: number, progress: number): Promise<boolean> {
  const result = await db
    .updateTable('generations')
    .set({ progress })
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .where('progress', '<', progress)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n || isHeld(db, fileId, epoch);
}

/** Whether the generation is open and the epoch is current. */
export async function isHeld(db: Database, fileId: string, epoch: number): Promise<boolean> {
  const row = await db
    .selectFrom('generations')
    .select('file_id')
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .executeTakeFirst();
  return row !== undefined;
}

export async function setResult(trx: Writer, fileId: string, result: StoredResult | null): Promise<void> {
  await trx
    .updateTable('generations')
    .set({ result: result && JSON.stringify(result) })
    .where('file_id', '=', fileId)
    .execute();
}

export type Ending =
  | { status: 'SUCCEEDED'; warnings: string[] }
  | { status: 'FAILED'; error: GenerationError; warnings: string[] }
  | { status: 'CANCELED' };

/** Ends a generation. Returns false if it had ended. */
export async function endGeneration(trx: Writer, fileId: string, ending: Ending, at: string): Promise<boolean> {
  const result = await trx
    .updateTable('generations')
    .set({
      status: ending.status,
      finished_at: at,
      lease_owner: null,
      lease_until: null,
      ...(ending.status === 'SUCCEEDED' && { progress: 1 }),
      ...(ending.status === 'FAILED' && { error: JSON.stringify(ending.error) }),
      ...(ending.status !== 'CANCELED' && { warnings: JSON.stringify(ending.warnings) }),
    })
    .where('file_id', '=', fileId)
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Returns up to 100 open generations past their deadline. */
export async function findOverdue(db: Database, now: Expression<string>): Promise<string[]> {
  const rows = await db
    .selectFrom('generations')
    .select('file_id')
    .where('status', 'in', OPEN_GENERATION_STATUSES)
    .where('deadline_at', '<', now)
    .limit(100)
    .execute();
  return rows.map((row) => row.file_id);
}

export type StoredStep = Selectable<Schema['generation_steps']>;

export async function insertStep(trx: Writer, step: Omit<StoredStep, 'position'>): Promise<void> {
  await trx
    .insertInto('generation_steps')
    .values((eb) => ({
      ...step,
      position: eb
        .selectFrom('generation_steps')
        .select((inner) => inner(inner.fn.coalesce(inner.fn.max('position'), inner.lit(0)), '+', 1).as('next'))
        .where('file_id', '=', step.file_id),
    }))
    .execute();
}

export async function listSteps(db: Database, fileId: string): Promise<StoredStep[]> {
  return db.selectFrom('generation_steps').selectAll().where('file_id', '=', fileId).orderBy('position').execute();
}
