import {
  type GenerationError,
  OPEN_GENERATION_STATUSES,
  OUTPUT_TYPES,
  type OutputType,
  type Provider,
} from '@review/contract';
import { type ExpressionBuilder, type Insertable, type NotNull, type Selectable, sql, type Updateable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type Moment, timeOf } from '../../db/clock.ts';
import { fold } from '../../db/fold.ts';
import { parseJson } from '../../db/json.ts';
import { jsonRows } from '../../db/json-rows.ts';
import { locked } from '../../db/locked.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import { preparedTogether } from '../../db/prepared-together.ts';
import type { Database, Schema, StoredResult, StoredStage, Writer } from '../../db/schema.ts';

/** Written into statements, so that they can use the partial indexes of open generations. */
export const OPEN = OPEN_GENERATION_STATUSES.map((status) => sql.lit(status));

export type StoredGeneration = Selectable<Schema['generations']>;

type NewGeneration = Omit<
  Insertable<Schema['generations']>,
  'status' | 'progress' | 'stages' | 'warnings' | 'epoch' | 'deadline_at'
> & {
  /** The queue deadline. */
  deadline_at: Moment;
};

const insertRow = prepared.run((db, { deadline_at, ...generation }: Params<NewGeneration>) =>
  db.insertInto('generations').values({
    ...generation,
    deadline_at: timeOf(db, deadline_at),
    status: 'QUEUED',
    progress: 0,
    stages: '{}',
    warnings: '[]',
    epoch: 0,
  }),
);

export async function insertGeneration(
  trx: Writer,
  generation: NewGeneration,
  attachments: readonly string[],
): Promise<void> {
  await insertRow(trx, { ...generation, folded_text: fold(generation.prompt) });
  if (attachments.length === 0) return;
  await trx
    .insertInto('generation_attachments')
    .values(attachments.map((id, position) => ({ file_id: generation.file_id, attachment_id: id, position })))
    .execute();
}

/** Serialises counting per workspace. */
export const lockWorkspace = prepared.run((db, id: Param<string>) =>
  locked(db, db.selectFrom('workspaces').select('id').where('id', '=', id)),
);

/** Returns how many generations of the workspace wait, and the families of the living workers. */
export const findAdmission = prepared(
  (db, { workspaceId, aliveSince }: Params<{ workspaceId: string; aliveSince: Moment }>) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('generations')
          .select((counted) => counted.fn.countAll<number>().as('waiting'))
          .where('workspace_id', '=', workspaceId)
          .where('status', '=', 'QUEUED')
          .where('engine', 'is', null)
          .as('queue'),
      )
      .leftJoin('workers', (join) => join.on('seen_at', '>', timeOf(db, aliveSince)))
      .select(['queue.waiting', 'workers.families']),
  (rows) => ({
    waiting: rows[0]?.waiting ?? 0,
    workers: rows.flatMap(({ families }) => (families === null ? [] : { families: parseJson(families) })),
  }),
);

export const findGeneration = prepared.lookUp((db, fileId: Param<string>) =>
  db.selectFrom('generations').selectAll().where('file_id', '=', fileId),
);

const findRows = preparedTogether({
  generations: (db, { ids }: Params<{ ids: string[] }>) =>
    db
      .selectFrom('generations')
      .selectAll()
      .where('file_id', ...anyOf(db, ids)),
  attachments: (db, { ids }: Params<{ ids: string[] }>) =>
    db
      .selectFrom('generation_attachments')
      .select(['file_id', 'attachment_id'])
      .where('file_id', ...anyOf(db, ids))
      .orderBy('file_id')
      .orderBy('position'),
});

/** Returns the generations of several files with the ids of their attachments. */
export async function findGenerations(
  db: Database,
  fileIds: string[],
): Promise<Map<string, StoredGeneration & { attachments: string[] }>> {
  if (fileIds.length === 0) return new Map();
  const { generations, attachments } = await findRows(db, { ids: fileIds });
  const attached = Map.groupBy(attachments, (row) => row.file_id);
  const attachedTo = (id: string) => attached.get(id)?.map((row) => row.attachment_id) ?? [];
  return new Map(generations.map((row) => [row.file_id, { ...row, attachments: attachedTo(row.file_id) }]));
}

interface Hold {
  fileId: string;
  epoch: number;
}

const lock = prepared.first((db, { fileId, epoch }: Params<Hold>) =>
  locked(
    db,
    db
      .selectFrom('generations')
      .selectAll()
      .where('file_id', '=', fileId)
      .where('epoch', '=', epoch)
      .where('status', 'in', OPEN),
  ),
);

/**
 * Returns the open generation if the epoch is current, locked until the transaction ends. Updates are limited to open
 * generations, because an ended one never changes.
 */
export const lockHeld = (trx: Writer, fileId: string, epoch: number) => lock(trx, { fileId, epoch });

const projectOf = (eb: ExpressionBuilder<Schema, 'generations'>) =>
  eb.selectFrom('files').select('files.project_id').whereRef('files.id', '=', 'generations.file_id');

interface Start {
  stages: Record<string, StoredStage>;
  provider: Provider;
  startedAt: string;
  deadlineAt: Moment;
}

const start = prepared.one(
  (db, { fileId, stages, provider, startedAt, deadlineAt }: Params<Start & { fileId: string }>) =>
    db
      .updateTable('generations')
      .set((eb) => ({
        status: 'RUNNING',
        stages: stages.map((value) => JSON.stringify(value)),
        provider,
        started_at: eb.fn.coalesce('started_at', startedAt),
        deadline_at: eb
          .case()
          .when('status', '=', 'RUNNING')
          .then(eb.ref('deadline_at'))
          .else(timeOf(db, deadlineAt))
          .end(),
      }))
      .where('file_id', '=', fileId)
      .returning((eb) => [projectOf(eb).as('project_id')])
      .$narrowType<{ project_id: NotNull }>(),
);

/**
 * Records a reserved submit, and returns the project. If none was recorded before, it starts the generation and replaces the
 * queue deadline by the run deadline.
 */
export const recordSubmit = (trx: Writer, fileId: string, submit: Start) => start(trx, { fileId, ...submit });

interface FirstSubmit extends Hold, Record<OutputType, Moment> {
  stages: Record<string, StoredStage>;
  provider: Provider;
  startedAt: string;
}

/**
 * Starts a generation that was claimed for this provider with its first reserved submit, and returns the project. The moments
 * are the run deadlines by type. Undefined if it was started, or a submit was reserved, before.
 */
export const recordFirstSubmit = prepared.first(
  (db, { fileId, epoch, stages, provider, startedAt, ...deadlines }: Params<FirstSubmit>) => {
    const deadlineOf = (type: OutputType) => sql`when ${sql.lit(type)} then ${timeOf(db, deadlines[type])}`;
    return db
      .updateTable('generations')
      .set((eb) => ({
        status: 'RUNNING',
        stages: stages.map((value) => JSON.stringify(value)),
        started_at: eb.fn.coalesce('started_at', startedAt),
        deadline_at: sql<string>`case output_type ${sql.join(OUTPUT_TYPES.map(deadlineOf), sql` `)} end`,
      }))
      .where('file_id', '=', fileId)
      .where('epoch', '=', epoch)
      .where('status', '=', 'QUEUED')
      .where('stages', '=', '{}')
      .where('provider', '=', provider)
      .returning((eb) => [projectOf(eb).as('project_id')])
      .$narrowType<{ project_id: NotNull }>();
  },
);

type Changes = Pick<Updateable<Schema['generations']>, 'stages' | 'provider_job_id' | 'result' | 'warnings'>;

const updateRow = prepared.run((db, { fileId, ...changes }: Params<Changes & { fileId: string }>) =>
  db.updateTable('generations').set(changes).where('file_id', '=', fileId),
);

export const updateStages = (
  trx: Writer,
  fileId: string,
  stages: Record<string, StoredStage>,
  providerJobId?: string | null,
) => updateRow(trx, { fileId, stages: JSON.stringify(stages), provider_job_id: providerJobId });

interface Progress extends Hold {
  progress: number;
  at: string;
  /** An event is due if the last one is older. */
  dueSince: string;
}

/** Stores the progress if it has increased. `progressed_at` is `at` if an event about it is due. */
export const raiseProgress = prepared.first((db, { fileId, epoch, progress, at, dueSince }: Params<Progress>) =>
  db
    .updateTable('generations')
    .set((eb) => ({
      progress,
      progressed_at: eb
        .case()
        .when(eb.fn.coalesce('progressed_at', eb.val('')), '<', dueSince)
        .then(at)
        .else(eb.ref('progressed_at'))
        .end(),
    }))
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('status', 'in', OPEN)
    .where('progress', '<', progress)
    .returning((eb) => ['progressed_at', projectOf(eb).as('project_id')])
    .$narrowType<{ project_id: NotNull }>(),
);

const findHeld = prepared.exists((db, { fileId, epoch }: Params<Hold>) =>
  db
    .selectFrom('generations')
    .select('file_id')
    .where('file_id', '=', fileId)
    .where('epoch', '=', epoch)
    .where('status', 'in', OPEN),
);

/** Whether the generation is open and the epoch is current. */
export const isHeld = (db: Database, fileId: string, epoch: number) => findHeld(db, { fileId, epoch });

export const setResult = (trx: Writer, fileId: string, result: StoredResult | null) =>
  updateRow(trx, { fileId, result: result && JSON.stringify(result) });

/** Replaces the warnings of a generation, also of one that has ended. */
export const setWarnings = (trx: Writer, { fileId, warnings }: { fileId: string; warnings: string[] }) =>
  updateRow(trx, { fileId, warnings: JSON.stringify(warnings) });

export type Ending =
  | { status: 'SUCCEEDED'; warnings: string[] }
  | { status: 'FAILED'; error: GenerationError; warnings: string[] }
  | { status: 'CANCELED' };

type EndedRow = Pick<Updateable<Schema['generations']>, 'status' | 'finished_at' | 'progress' | 'error' | 'warnings'>;

const end = prepared.first(
  (db, { fileId, epoch, ...changes }: Params<EndedRow & { fileId: string; epoch?: number | undefined }>) => {
    const update = db
      .updateTable('generations')
      .set({ ...changes, lease_owner: null, lease_until: null })
      .where('file_id', '=', fileId)
      .where('status', 'in', OPEN)
      .returning('output_model');
    return epoch === undefined ? update : update.where('epoch', '=', epoch);
  },
);

/** Ends a generation, under that epoch if one is passed. Returns undefined if it had ended, or has another epoch. */
export const endGeneration = (trx: Writer, fileId: string, ending: Ending, at: string, epoch?: number) =>
  end(trx, {
    fileId,
    epoch,
    status: ending.status,
    finished_at: at,
    ...(ending.status === 'SUCCEEDED' && { progress: 1 }),
    ...(ending.status === 'FAILED' && { error: JSON.stringify(ending.error) }),
    ...(ending.status !== 'CANCELED' && { warnings: JSON.stringify(ending.warnings) }),
  });

const findPast = prepared(
  (db, { now }: Params<{ now: Moment }>) =>
    db
      .selectFrom('generations')
      .select('file_id')
      .where('status', 'in', OPEN)
      .where('deadline_at', '<', timeOf(db, now))
      .limit(100),
  (rows) => rows.map((row) => row.file_id),
);

/** Returns up to 100 open generations past their deadline. */
export const findOverdue = (db: Database, now: Moment) => findPast(db, { now });

export type StoredStep = Selectable<Schema['generation_steps']>;

export interface NewStep extends Omit<StoredStep, 'file_id' | 'position' | 'attempt'> {
  /** Null for the next attempt of its name. */
  attempt: number | null;
}

/** Appends steps, except those whose record id is known. The caller has locked the generation. */
export const insertSteps = prepared.run((db, { fileId, steps }: Params<{ fileId: string; steps: NewStep[] }>) => {
  return sql`
    insert into generation_steps
      (file_id, position, name, attempt, outcome, message, started_at, finished_at, record_id)
    select ${fileId}, known.last + number, item ->> 'name',
      coalesce(
        cast(item ->> 'attempt' as integer),
        1 + (select count(*) from generation_steps where file_id = ${fileId} and name = item ->> 'name')
      ),
      item ->> 'outcome', item ->> 'message', item ->> 'started_at', item ->> 'finished_at', item ->> 'record_id'
    from ${jsonRows(db, steps)},
      (select coalesce(max(position), 0) as last from generation_steps where file_id = ${fileId}) as known
    where true
    on conflict (file_id, record_id) do nothing`;
});

export const listSteps = prepared.all((db, fileId: Param<string>) =>
  db.selectFrom('generation_steps').selectAll().where('file_id', '=', fileId).orderBy('position'),
);
