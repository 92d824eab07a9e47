import { setImmediate as nextTurn } from 'node:timers/promises';
import { EVENTS, type EventType, type ProjectRole, type Scope } from '@review/contract';
import type { Database } from '../../db/schema.ts';
import { isRestricted } from '../visibility.ts';
import type { EventFeed, FeedStream } from './feed.ts';
import { BATCH_SIZE, findRange, type StoredEvent } from './queries.ts';
import { peopleIn } from './response.ts';

/** Below the usual timeouts of proxies. */
export const HEARTBEAT_MS = 15_000;
/** How long a browser waits before it connects again. */
const RETRY_MS = 1000;

/** Returns the types of events whose subjects the credential and the role may read. */
export const readableTypes = (scopes: ReadonlySet<Scope>, role: ProjectRole): Set<EventType> =>
  new Set(
    EVENTS.flatMap(({ type, scopes: needed, roles }) =>
      roles.includes(role) && (needed.length === 0 || needed.some((scope) => scopes.has(scope))) ? [type] : [],
    ),
  );

export interface Reader {
  userId: string;
  scopes: ReadonlySet<Scope>;
  /** Finds the caller's current role in the project; undefined if the caller has lost access. */
  findRole(): Promise<ProjectRole | undefined>;
}

/** What a stream sends at once. */
export interface Sent {
  /** As server-sent events; a heartbeat if there are none. */
  text: string;
  events: readonly StoredEvent[];
}

interface StreamOptions {
  db: Database;
  feed: EventFeed;
  /** Opened before the position is read, so that no event is missed. */
  stream: FeedStream;
  projectId: string;
  role: ProjectRole;
  reader: Reader;
  /** Continue after this event; null starts with the next one. */
  after: number | null;
  heartbeatMs?: number;
}

/** Yields the events of a project that the caller may see, in order. Ends when the caller loses access to the project. */
export async function* streamEvents({
  db,
  feed,
  stream,
  projectId,
  role: firstRole,
  reader,
  after,
  heartbeatMs = HEARTBEAT_MS,
}: StreamOptions): AsyncGenerator<Sent, void> {
  const { signal } = stream;
  let role: ProjectRole | undefined = firstRole;
  let types = readableTypes(reader.scopes, firstRole);
  const checkRole = async () => {
    role = await reader.findRole();
    if (role !== undefined) types = readableTypes(reader.scopes, role);
  };

  const start = await findStart(db, projectId, after);
  let { position } = start;
  yield { text: `retry: ${RETRY_MS}\n${start.isReset ? resetFrame(position) : idFrame(position)}`, events: [] };
  let [sentAt, sentId] = [performance.now(), position];
  let wasWoken = false;

  while (!signal.aborted && role !== undefined) {
    const batch = await feed.read(projectId, position);
    const open = isRestricted(role) && batch.events.length > 0 ? await batch.open() : null;
    const visible: typeof batch.events = [];
    for (const event of batch.events) {
      const { row } = event;
      position = row.sequence;
      const changesAccess = isChangeOf(row, reader.userId);
      if (changesAccess) await checkRole();
      const isVisible = role !== undefined && types.has(row.type) && (open === null || open.has(row));
      if (isVisible) visible.push(event);
      // The rest is read again, as the new role sees it.
      if (changesAccess) break;
    }
    const lastVisible = visible.at(-1);
    if (lastVisible !== undefined && !signal.aborted) {
      yield { text: visible.map(({ frame }) => frame).join(''), events: visible.map(({ row }) => row) };
      [sentAt, sentId] = [performance.now(), lastVisible.row.sequence];
    }
    const last = batch.events.at(-1)?.row.sequence ?? position;
    if (batch.events.length === BATCH_SIZE || position < last) {
      // Queries of SQLite end in the same turn of the event loop, which a long list would block.
      await nextTurn();
      continue;
    }
    const isDue = performance.now() - sentAt >= heartbeatMs;
    // Woken without an event, or silent for a while: the project may be gone, or changed by hand.
    if (isDue || (wasWoken && batch.events.length === 0)) await checkRole();
    if (isDue && role !== undefined && !signal.aborted) {
      // The id moves past events that the caller may not see, so that a resumed stream need not read them again.
      yield { text: position > sentId ? `: ${idFrame(position)}` : ':\n\n', events: [] };
      [sentAt, sentId] = [performance.now(), position];
    }
    if (role !== undefined) wasWoken = await stream.wait(Math.max(0, sentAt + heartbeatMs - performance.now()));
  }
}

/** Whether the event changes what the person may see. */
const isChangeOf = (row: StoredEvent, userId: string): boolean =>
  (row.type === 'member.changed' || row.type === 'member.removed') && peopleIn(row).includes(userId);

const idFrame = (position: number) => `id: ${position}\n\n`;

const resetFrame = (position: number) => `event: reset\nid: ${position}\ndata: {"id":"${position}"}\n\n`;

/** Finds where a stream starts. It is reset to the end if events after the requested one are not kept or do not exist. */
async function findStart(
  db: Database,
  projectId: string,
  after: number | null,
): Promise<{ position: number; isReset: boolean }> {
  const range = await findRange(db, projectId);
  const last = range?.last_sequence ?? 0;
  if (after === null) return { position: last, isReset: false };
  const oldest = range?.oldest ?? last + 1;
  if (after >= oldest - 1 && after <= last) return { position: after, isReset: false };
  return { position: last, isReset: true };
}
