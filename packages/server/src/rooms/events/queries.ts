import type { EventType } from '@review/contract';
import { PAGE_SIZE } from '@review/contract';
import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type CursorPage, type PageRequest, rangeOf, toPage } from '../../db/cursor.ts';
import { jsonRows } from '../../db/json-rows.ts';
import { isPostgres, type Param, type Params, prepared } from '../../db/prepared.ts';
import { preparedTogether } from '../../db/prepared-together.ts';
import type { Database, Schema, Writer } from '../../db/schema.ts';
import { visibleFolders } from '../folders/queries.ts';
import { users } from '../members/queries.ts';
import { liveFiles } from '../visibility.ts';

export type StoredEvent = Selectable<Schema['events']>;
type NewRow = Omit<Insertable<Schema['events']>, 'sequence'>;

const COLUMNS = sql.raw('type, subject_id, guard_id, was_open, actor_id, at, data, project_id, sequence');
const valuesOf = (row: Params<NewRow>) =>
  sql`${row.type}, ${row.subject_id}, ${row.guard_id}, cast(${row.was_open} as integer), ${row.actor_id}, ${row.at}, ${row.data},
    ${row.project_id}`;

/** Raises the counter of a project, and locks it until the transaction ends. */
const raiseCounter = (projectId: Param<string>, by: RawBuilder<number>) => sql`
  insert into event_counters (project_id, last_sequence) values (${projectId}, ${by})
  on conflict (project_id) do update set last_sequence = event_counters.last_sequence + ${by}
  returning last_sequence`;

const lastSequence = (projectId: Param<string>) =>
  sql`coalesce((select last_sequence from event_counters where project_id = ${projectId}), 0)`;

/** On SQLite, the event is its own counter. */
const insertEvent = prepared.run((db, row: Params<NewRow>) =>
  isPostgres(db)
    ? sql`with counter as (${raiseCounter(row.project_id, sql.lit(1))})
      insert into events (${COLUMNS}) select ${valuesOf(row)}, last_sequence from counter`
    : sql`insert into events (${COLUMNS}) values (${valuesOf(row)}, ${lastSequence(row.project_id)} + 1)`,
);

interface NewRows {
  projectId: string;
  count: number;
  rows: readonly NewRow[];
}

const insertSeveral = prepared.run((db, { projectId, count, rows }: Params<NewRows>) => {
  const values = sql`item ->> 'type', item ->> 'subject_id', item ->> 'guard_id', cast(item ->> 'was_open' as integer),
    item ->> 'actor_id', item ->> 'at', item ->> 'data', ${projectId}`;
  return isPostgres(db)
    ? sql`with counter as (${raiseCounter(projectId, sql`cast(${count} as bigint)`)})
      insert into events (${COLUMNS}) select ${values}, last_sequence - ${count} + number from counter, ${jsonRows(db, rows)}`
    : sql`insert into events (${COLUMNS}) select ${values}, ${lastSequence(projectId)} + number from ${jsonRows(db, rows)}`;
});

/** Numbers the events of a project after its last one. One event has a statement of its own, which costs less. */
export async function insertEvents(trx: Writer, projectId: string, rows: readonly NewRow[]): Promise<void> {
  const [first] = rows;
  if (first !== undefined && rows.length === 1) await insertEvent(trx, first);
  else await insertSeveral(trx, { projectId, count: rows.length, rows });
}

/** Returns the numbers of the last event and of the oldest one that is kept; undefined if there never was one. */
export const findRange = prepared.first((db, projectId: Param<string>) =>
  db
    .selectFrom('event_counters')
    .select((eb) => [
      'last_sequence',
      eb
        .selectFrom('events')
        .select((events) => events.fn.min('sequence').as('oldest'))
        .where('project_id', '=', projectId)
        .as('oldest'),
    ])
    .where('project_id', '=', projectId),
);

/** Returns the last event numbers of those projects that have one. */
export const findLastSequences = prepared(
  (db, projectIds: Param<string[]>) =>
    db
      .selectFrom('event_counters')
      .selectAll()
      .where('project_id', ...anyOf(db, projectIds)),
  (rows) => new Map(rows.map((row) => [row.project_id, row.last_sequence])),
);

/** The maximum of events that a stream reads at once. */
export const BATCH_SIZE = 100;

export const listEventsAfter = prepared.all((db, { projectId, after }: Params<{ projectId: string; after: number }>) =>
  db
    .selectFrom('events')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(BATCH_SIZE),
);

const findMarks = preparedTogether({
  files: (db, { ids }: Params<{ ids: string[] }>) =>
    liveFiles(db)
      .select(['id', 'allow_restricted'])
      .where('id', ...anyOf(db, ids)),
  versions: (db, { ids }: Params<{ ids: string[] }>) =>
    db
      .selectFrom('versions')
      .select(['id', 'allow_restricted'])
      .where('id', ...anyOf(db, ids)),
});

const findOpenFolders = prepared(
  (db, { projectId, ids }: Params<{ projectId: string; ids: string[] }>) =>
    visibleFolders(db, projectId, true)
      .select('id')
      .where('id', ...anyOf(db, ids)),
  (rows) => rows.map(({ id }) => id),
);

/** Returns those events that restricted reviewers may see now. */
export async function openEvents(db: Database, projectId: string, events: StoredEvent[]): Promise<Set<StoredEvent>> {
  const ids = [...new Set(events.flatMap(({ guard_id: id }) => id ?? []))];
  if (ids.length === 0) return new Set(events);
  const { files, versions } = await findMarks(db, { ids });
  const marks = new Map([...files, ...versions].map((row) => [row.id, row.allow_restricted === 1]));
  const folderIds = ids.filter((id) => id.startsWith('DX'));
  if (folderIds.length > 0)
    for (const id of await findOpenFolders(db, { projectId, ids: folderIds })) marks.set(id, true);
  const isOpen = ({ guard_id: id, was_open: wasOpen }: StoredEvent) => id === null || (marks.get(id) ?? wasOpen === 1);
  return new Set(events.filter(isOpen));
}

interface ActivityFilters {
  projectId: string;
  types: EventType[];
  actorId?: string | undefined;
  subjectId?: string | undefined;
}

type Beyond = { from?: number | undefined };

const listRange = prepared.all(
  (
    db,
    { projectId, types, actorId, subjectId, from }: Params<ActivityFilters & Beyond>,
    { order, inclusive, restricted }: { order: 'asc' | 'desc'; inclusive: boolean; restricted: boolean },
  ) => {
    let query = db
      .selectFrom('events')
      .selectAll()
      .where('project_id', '=', projectId)
      .where('type', ...anyOf(db, types));
    if (actorId !== undefined) query = query.where('actor_id', '=', actorId);
    if (subjectId !== undefined) query = query.where('subject_id', '=', subjectId);
    if (from !== undefined) {
      const beyond = order === 'asc' ? '>' : '<';
      query = query.where('sequence', inclusive ? `${beyond}=` : beyond, from);
    }
    return query
      .$if(restricted, (events) =>
        events.where((eb) => {
          // Not EXISTS, which Postgres would turn into a scan of the whole table.
          const fileMark = liveFiles(db)
            .select('files.allow_restricted')
            .whereRef('files.id', '=', sql.ref('events.guard_id'));
          const versionMark = eb
            .selectFrom('versions')
            .select('versions.allow_restricted')
            .whereRef('versions.id', '=', 'events.guard_id');
          return eb.or([
            eb('guard_id', 'is', null),
            eb(fileMark, '=', 1),
            eb(versionMark, '=', 1),
            eb('guard_id', 'in', visibleFolders(db, projectId, true).select('folders.id')),
            eb.and([eb('was_open', '=', 1), eb(fileMark, 'is', null)]),
          ]);
        }),
      )
      .orderBy('sequence', order)
      .limit(PAGE_SIZE + 1);
  },
);

/** An event with its number as the id of its place in the list. */
export type ListedEvent = StoredEvent & { id: string };

/** Returns a page of the events of these types. */
export async function listActivity(
  db: Database,
  page: PageRequest,
  filters: ActivityFilters,
  restricted: boolean,
): Promise<CursorPage<ListedEvent>> {
  const { order, from } = rangeOf(page);
  const rows = await listRange(
    db,
    { ...filters, from: from === null ? undefined : Number(from.key[0]) },
    { order, inclusive: from?.inclusive ?? false, restricted },
  );
  return toPage(
    rows.map((row) => ({ ...row, id: String(row.sequence) })),
    page,
    'id',
  );
}

type Named = Params<{ workspaceId: string; userIds: string[]; ids: string[] }>;

/** Returns the people of events, and the names of their subjects that still exist. */
export const findNames = preparedTogether({
  people: (db, { workspaceId, userIds }: Named) =>
    users(db, workspaceId)
      .select('user.id')
      .where('user.id', ...anyOf(db, userIds)),
  projects: (db, { ids }: Named) =>
    db
      .selectFrom('projects')
      .select(['id', 'name'])
      .where('id', ...anyOf(db, ids)),
  folders: (db, { ids }: Named) =>
    db
      .selectFrom('folders')
      .select(['id', 'name'])
      .where('id', ...anyOf(db, ids)),
  files: (db, { ids }: Named) =>
    liveFiles(db)
      .select(['id', 'name'])
      .where('id', ...anyOf(db, ids)),
  versions: (db, { ids }: Named) =>
    db
      .selectFrom('versions')
      .select(['id', 'name'])
      .where('id', ...anyOf(db, ids)),
});

/** Returns the projects whose oldest event is expired, and the number of the first event that each keeps. */
const findExpired = prepared.all((db, before: Param<string>) =>
  db
    .selectFrom('event_counters as counter')
    .select((eb) => [
      'project_id',
      eb.fn
        .coalesce(
          eb
            .selectFrom('events')
            .select('sequence')
            .whereRef('events.project_id', '=', 'counter.project_id')
            .where('at', '>=', before)
            .orderBy('sequence')
            .limit(1),
          eb('last_sequence', '+', 1),
        )
        .as('first_kept'),
    ])
    .where(
      (eb) =>
        eb
          .selectFrom('events')
          .select('at')
          .whereRef('events.project_id', '=', 'counter.project_id')
          .orderBy('sequence')
          .limit(1),
      '<',
      before,
    ),
);

const deleteBefore = prepared.run((db, { projectId, first }: Params<{ projectId: string; first: number }>) =>
  db.deleteFrom('events').where('project_id', '=', projectId).where('sequence', '<', first),
);

/** Deletes the expired events at the start of each project, so that those it keeps have no gap. Returns the projects. */
export async function deleteExpiredEvents(db: Database, before: string): Promise<string[]> {
  const expired = await findExpired(db, before);
  for (const { project_id: projectId, first_kept: first } of expired) await deleteBefore(db, { projectId, first });
  return expired.map(({ project_id: projectId }) => projectId);
}

/** Counts what `deleteExpiredEvents` would delete. */
export async function countExpiredEvents(db: Database, before: string): Promise<number> {
  let total = 0;
  for (const { project_id: projectId, first_kept: first } of await findExpired(db, before)) {
    const { count } = await db
      .selectFrom('events')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('project_id', '=', projectId)
      .where('sequence', '<', first)
      .executeTakeFirstOrThrow();
    total += count;
  }
  return total;
}
