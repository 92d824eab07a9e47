import { z } from 'zod';
import { ANY_MEMBER } from './access.ts';
import { list } from './collections.ts';
import { eventStream, QUERY, room } from './endpoint.ts';
import { EventId, EventType, ProjectEvent } from './event-types.ts';
import { reference, SUBJECT_IDS, type Subject, Uuid } from './ids.ts';
import { Person } from './members.ts';
import { cursorPage, cursorQuery } from './paging.ts';
import { text } from './text.ts';
import { Timestamp } from './time.ts';

const subjects = Object.keys(SUBJECT_IDS) as [Subject, ...Subject[]];

/** An event as people read it. */
export const Activity = z
  .object({
    id: EventId,
    type: EventType,
    at: Timestamp,
    project: z.object({ id: Uuid }),
    /** `name` is null if the subject has none or no longer exists. */
    subject: z.object({ type: z.enum(subjects), id: z.string(), name: z.string().nullable() }),
    /** Null for a change that no person made, such as the end of a generation. */
    actor: Person.nullable(),
    /** The people that `data` refers to. */
    people: z.array(Person),
    data: z.record(z.string(), z.unknown()).meta({ description: 'As in the event of this type.' }),
  })
  .meta({ id: 'Activity' });
export type Activity = z.infer<typeof Activity>;

const reading = { tier: 'default', scopes: ['projects:read'], subject: 'project', roles: ANY_MEMBER } as const;

export const events = room({
  stream: {
    method: 'GET',
    path: '/api/projects/:id/events',
    summary: 'Follow the changes of a project as server-sent events',
    description:
      'Sends each event that the caller may see, in order: `id` is its id, `event` its type, `data` the event as JSON. Starts with the next change, or after the event that `Last-Event-ID` or `after` names. If that event is no longer kept, `event: reset` comes first: read the state again. A comment line follows every 15 seconds without an event. The stream ends when the caller loses access or the server stops; connect again with `Last-Event-ID`.',
    query: z.strictObject({
      after: EventId.optional().describe('Continue after this event. `Last-Event-ID` overrides it.'),
    }),
    responses: { 200: eventStream(ProjectEvent) },
    metadata: { ...reading, problems: ['NOT_READY'] },
  },
  list: {
    method: QUERY,
    path: '/api/projects/:id/activity',
    summary: 'List the changes of a project, page by page, newest first',
    description:
      'Only those that the caller may see. Changes are kept for 30 days unless the operator has set another time.',
    body: cursorQuery({
      types: list(EventType, { min: 1, max: 50 }).optional().describe('Only events of these types.'),
      actor: reference(Uuid).optional().describe('Only changes that this person made.'),
      subject: z
        .strictObject({ id: text({ min: 1, max: 64 }) })
        .optional()
        .describe('Only changes of the record with this id.'),
    }),
    responses: { 200: cursorPage(Activity) },
    metadata: reading,
  },
});
