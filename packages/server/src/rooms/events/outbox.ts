import type { EventOf, EventType } from '@review/contract';
import type { Writer } from '../../db/schema.ts';
import { now } from '../../db/time.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Deps } from '../../deps.ts';
import { recordChanges } from '../audit/record.ts';
import { insertEvents } from './queries.ts';

/** An event before it has its number, its time and its actor. */
export type NewEvent<T extends EventType = EventType> = T extends EventType
  ? { type: T; projectId: string; subjectId: string; data: EventOf<T>['data'] }
  : never;

/** The result of a change, with the events that tell of it: none if nothing changed. */
export interface Written<T, E extends EventType = EventType> {
  answer: T;
  events: readonly NewEvent<E>[];
}

/** Runs the work in one transaction that also stores its events. */
export type Write<E extends EventType = EventType> = <T>(work: (trx: Writer) => Promise<Written<T, E>>) => Promise<T>;

export type Outbox = Pick<Deps, 'db' | 'projectNotifier'>;

/**
 * Runs the work in a transaction, stores its events in the same one, and notifies the streams of their projects after the
 * commit. The actor is null for changes that no person makes.
 */
export async function writeWithEvents<T>(
  { db, projectNotifier }: Outbox,
  actorId: string | null,
  work: (trx: Writer) => Promise<Written<T>>,
): Promise<T> {
  const { answer, events } = await inTransaction(db, async (trx) => {
    const written = await work(trx);
    await appendEvents(trx, actorId, written.events);
    return written;
  });
  projectNotifier.notify(events);
  return answer;
}

/**
 * Stores events as the last statements of a transaction, and before them the acts of a person that belong in the audit log.
 * It locks the counters of their projects in one order and after all other rows, so that no two transactions wait for each other.
 */
export async function appendEvents(trx: Writer, actorId: string | null, events: readonly NewEvent[]): Promise<void> {
  if (actorId !== null) await recordChanges(trx, actorId, events);
  const byProject = Map.groupBy(events, ({ projectId }) => projectId);
  for (const projectId of [...byProject.keys()].toSorted()) {
    const rows = byProject.get(projectId)?.map((event) => toRow(event, actorId)) ?? [];
    await insertEvents(trx, projectId, rows);
  }
}

const toRow = (event: NewEvent, actorId: string | null) => ({
  project_id: event.projectId,
  type: event.type,
  subject_id: event.subjectId,
  guard_id: guardOf(event),
  was_open: event.type === 'file.deleted' ? Number(event.data.allowRestricted) : null,
  actor_id: actorId,
  at: now(),
  data: JSON.stringify(event.data),
});

/** The file, version or folder that a restricted reviewer must be able to see. */
function guardOf(event: NewEvent): string | null {
  if ('file' in event.data) return event.data.file?.id ?? null;
  return /^(?:file|version|folder)\./.test(event.type) ? event.subjectId : null;
}
