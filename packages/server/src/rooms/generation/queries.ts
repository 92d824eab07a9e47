import type {
  Engine,
  Family,
  GenerationError,
  GenerationStatus,
  GenerationStep,
  OutputType,
  Provider,
  Stage,
  VideoSettings,
} from '@review/contract';
import type { Expression, Selectable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';

type Row = Selectable<Schema['generations']>;

export interface StoredResult {
  storageKey: string;
  size: number;
  mimeType: string;
  sha256: string;
}

/** A stage with the idempotency token of its last reserved submit. */
export type StoredStage = Stage & { token?: string };

export interface StoredGeneration {
  fileId: string;
  workspaceId: string;
  family: Family;
  outputType: OutputType;
  outputModel: string;
  prompt: string;
  configs: VideoSettings | null;
  status: GenerationStatus;
  progress: number;
  promised: Provider;
  provider: Provider | null;
  providerJobId: string | null;
  stages: Record<string, StoredStage>;
  warnings: string[];
  error: GenerationError | null;
  engine: Engine | null;
  epoch: number;
  result: StoredResult | null;
  queuedAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

const generationRecord = (row: Row): StoredGeneration => ({
  fileId: row.file_id,
  workspaceId: row.workspace_id,
  family: row.family,
  outputType: row.output_type,
  outputModel: row.output_model,
  prompt: row.prompt,
  configs: row.configs === null ? null : JSON.parse(row.configs),
  status: row.status,
  progress: row.progress,
  promised: row.promised,
  provider: row.provider,
  providerJobId: row.provider_job_id,
  stages: JSON.parse(row.stages),
  warnings: JSON.parse(row.warnings),
  error: row.error === null ? null : JSON.parse(row.error),
  engine: row.engine,
  epoch: row.epoch,
  result: row.result === null ? null : JSON.parse(row.result),
  queuedAt: row.queued_at,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
});

/** Updates are limited to these, because an ended generation never changes. */
const OPEN = ['QUEUED', 'RUNNING'] as const;

interface NewGeneration {
  fileId: string;
  workspaceId: string;
  family: Family;
  outputType: OutputType;
  outputModel: string;
  prompt: string;
  configs: VideoSettings | null;
  attachments: string[];
  promised: Provider;
  queuedAt: string;
  /** The queue deadline. */
  deadlineAt: Expression<string>;
}

export async function insertGeneration(trx: Writer, generation: NewGeneration): Promise<void> {
  const { fileId, attachments, configs } = generation;
  await trx
    .insertInto('generations')
    .values({
      file_id: fileId,
      workspace_id: generation.workspaceId,
      family: generation.family,
      output_type: generation.outputType,
      output_model: generation.outputModel,
      prompt: generation.prompt,
      configs: configs && JSON.stringify(configs),
      status: 'QUEUED',
      progress: 0,
      stages: '{}',
      warnings: '[]',
      epoch: 0,
      promised: generation.promised,
      queued_at: generation.queuedAt,
      deadline_at: generation.deadlineAt,
    })
    .execute();
  if (attachments.length === 0) return;
  await trx
    .insertInto('generation_attachments')
    .values(attachments.map((id, position) => ({ file_id: fileId, attachment_id: id, position })))
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
  const row = await db.selectFrom('generations').selectAll().where('file_id', '=', fileId).executeTakeFirst();
  return row && generationRecord(row);
}

/** Returns the generations of several files with the ids of their attachments. */
export async function findGenerations(
  db: Database,
  fileIds: string[],
): Promise<Map<string, StoredGeneration & { attachments: string[] }>> {
  if (fileIds.length === 0) return new Map();
  const rows = await db.selectFrom('generations').selectAll().where('file_id', 'in', anyOf(fileIds)).execute();
  const attached = await listAttachments(db, fileIds);
  return new Map(
    rows.map((row) => [row.file_id, { ...generationRecord(row), attachments: attached.get(row.file_id) ?? [] }]),
  );
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

/** Returns the open generation if the epoch is current, locked until the transaction ends. */
export async function lockHeld(trx: Writer, fileId: string, epoch: number): Promise<StoredGeneration | undefined> {
  const row = await trx
    .updateTable('generations')
    .set((eb) => ({ epoch: eb.ref('epoch') }))
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('status', 'in', OPEN)
    .returningAll()
    .executeTakeFirst();
  return row && generationRecord(row);
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
    .where('status', 'in', OPEN)
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
    .where('status', 'in', OPEN)
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
    .where('status', 'in', OPEN)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Returns up to 100 open generations past their deadline. */
export async function findOverdue(db: Database, now: Expression<string>): Promise<string[]> {
  const rows = await db
    .selectFrom('generations')
    .select('file_id')
    .where('status', 'in', OPEN)
    .where('deadline_at', '<', now)
    .limit(100)
    .execute();
  return rows.map((row) => row.file_id);
}

interface NewStep {
  name: string;
  attempt: number;
  outcome: GenerationStep['outcome'];
  message: string | null;
  startedAt: string;
  finishedAt: string;
}

export async function insertStep(trx: Writer, fileId: string, step: NewStep): Promise<void> {
  await trx
    .insertInto('generation_steps')
    .values((eb) => ({
      file_id: fileId,
      position: eb
        .selectFrom('generation_steps')
        .select((inner) => inner(inner.fn.coalesce(inner.fn.max('position'), inner.lit(0)), '+', 1).as('next'))
        .where('file_id', '=', fileId),
      name: step.name,
      attempt: step.attempt,
      outcome: step.outcome,
      message: step.message,
      started_at: step.startedAt,
      finished_at: step.finishedAt,
    }))
    .execute();
}

export async function listSteps(db: Database, fileId: string): Promise<GenerationStep[]> {
  const rows = await db
    .selectFrom('generation_steps')
    .selectAll()
    .where('file_id', '=', fileId)
    .orderBy('position')
    .execute();
  return rows.map(({ name, attempt, outcome, message, started_at, finished_at }) => ({
    name,
    attempt,
    startedAt: started_at,
    finishedAt: finished_at,
    outcome: outcome as GenerationStep['outcome'],
    message,
  }));
}
