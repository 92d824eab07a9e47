import { type Activity, EVENTS, type Subject } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import type { Database } from '../../db/schema.ts';
import { findNames, type ListedEvent, type StoredEvent } from './queries.ts';

const SUBJECTS = new Map<string, Subject>(EVENTS.map(({ type, subject }) => [type, subject]));

/** A newer server may have stored events of types that this one does not know; no reader gets those. */
const subjectOf = (type: string): Subject => SUBJECTS.get(type) ?? 'project';

export const toEvent = (row: StoredEvent) => ({
  id: String(row.sequence),
  type: row.type,
  at: row.at,
  project: { id: row.project_id },
  subject: { type: subjectOf(row.type), id: row.subject_id },
  actor: row.actor_id === null ? null : { id: row.actor_id },
  data: parseJson(row.data),
});

/** The event as a server-sent event. JSON has no line breaks. */
export const toFrame = (row: StoredEvent): string =>
  `id: ${row.sequence}\nevent: ${row.type}\ndata: ${JSON.stringify(toEvent(row))}\n\n`;

const idOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' ? [value.id] : [];

/** The ids of the people that the data of an event refers to. */
export function peopleIn(row: StoredEvent): string[] {
  const { user, users } = parseJson(row.data);
  return [...idOf(user), ...(Array.isArray(users) ? users.flatMap(idOf) : [])];
}

/** Returns events with the names of their actors, their subjects and the people in their data. */
export async function toActivity(db: Database, workspaceId: string, rows: ListedEvent[]): Promise<Activity[]> {
  const userIds = rows.flatMap((row) => [...(row.actor_id === null ? [] : [row.actor_id]), ...peopleIn(row)]);
  const ids = rows.map((row) => row.subject_id);
  const { people, ...records } = await findNames(db, { workspaceId, userIds: [...new Set(userIds)], ids });
  const persons = new Map(people.map(({ id, name, avatar_url: avatarUrl }) => [id, { id, name, avatarUrl }]));
  const names = new Map(
    Object.values(records)
      .flat()
      .map(({ id, name }) => [id, name]),
  );
  return rows.map((row) => {
    const { subject, ...event } = toEvent(row);
    const named = peopleIn(row).flatMap((id) => persons.get(id) ?? []);
    const member = subject.type === 'project-member' ? named[0]?.name : undefined;
    return {
      ...event,
      subject: { ...subject, name: member ?? names.get(subject.id) ?? null },
      actor: row.actor_id === null ? null : (persons.get(row.actor_id) ?? null),
      people: named,
    };
  });
}
