import { EVENT_STREAM, ProjectEvent } from '@review/contract';
import { expect } from 'vitest';
import type { House, Person } from '../../../test/house.ts';
import { toFrame } from '../response.ts';

/** The stored events of a project after that one, as every member would see them. Validates each. */
export async function storedEvents({ deps }: House, projectId: string, after = 0): Promise<ProjectEvent[]> {
  const rows = await deps.db
    .selectFrom('events')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .execute();
  return rows.map((row) => {
    const json: unknown = JSON.parse(/^data: (.*)$/m.exec(toFrame(row))?.[1] ?? '');
    const event = ProjectEvent.parse(json);
    // The schema removes fields that it does not declare.
    expect(event).toEqual(json);
    return event;
  });
}

export const typesOf = (events: readonly { type: string }[]): string[] => events.map(({ type }) => type);

export async function lastSequence({ deps }: House, projectId: string): Promise<number> {
  const row = await deps.db
    .selectFrom('event_counters')
    .select('last_sequence')
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return row?.last_sequence ?? 0;
}

/** An open stream, read frame by frame. */
export interface OpenStream extends AsyncDisposable {
  response: Response;
  /** The next frame; undefined after the end. */
  next(): Promise<string | undefined>;
  /** The next events, without frames that have no data. */
  events(count: number): Promise<ProjectEvent[]>;
  /** Reads to the end, and returns the events on the way. */
  rest(): Promise<ProjectEvent[]>;
}

/** Opens the stream of a project with the person's key. */
export async function openStream(
  { url }: Pick<House, 'url'>,
  { key }: Pick<Person, 'key'>,
  projectId: string,
  { after, query = '' }: { after?: string | number; query?: string } = {},
): Promise<OpenStream> {
  const closing = new AbortController();
  const headers = { authorization: `Bearer ${key}`, ...(after !== undefined && { 'last-event-id': String(after) }) };
  const response = await fetch(`${url}/api/projects/${projectId}/events${query}`, { headers, signal: closing.signal });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, `${EVENT_STREAM}; charset=utf-8`]);
  const frames = framesOf(response);
  const next = async () => (await frames.next()).value ?? undefined;
  const eventIn = (frame: string) => {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    return data === undefined || frame.includes('event: reset') ? [] : [ProjectEvent.parse(JSON.parse(data))];
  };
  return {
    response,
    next,
    async events(count) {
      const found: ProjectEvent[] = [];
      while (found.length < count) {
        const frame = await next();
        if (frame === undefined) throw new Error(`the stream ended after ${found.length} of ${count} events`);
        found.push(...eventIn(frame));
      }
      return found;
    },
    async rest() {
      const found: ProjectEvent[] = [];
      for await (const frame of frames) found.push(...eventIn(frame));
      return found;
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
    },
  };
}

async function* framesOf({ body }: Response): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body ?? []) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    yield* frames;
  }
}
