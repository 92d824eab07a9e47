import { expect, test } from 'vitest';
import { createClient } from './client.ts';
import { type Answer, inTurn, type Outcome, refused, standIn } from './test/stand-in.ts';

const PROJECT = '0190a0b0-0000-7000-8000-000000000001';

const stream = (body: string): Answer => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });
const started = (position: number) => stream(`retry: 1000\nid: ${position}\n\n`);

/** Follows the events until the service refuses them, and returns what happened in order. */
async function follow(...outcomes: [Outcome, ...Outcome[]]): Promise<string[]> {
  await using service = await standIn(inTurn(...outcomes));
  const client = createClient({ baseUrl: service.url, token: 'a', retries: 2 });
  const happened: string[] = [];
  const events = client.events(PROJECT, { onConnection: (connection) => happened.push(connection) });
  try {
    for await (const event of events) happened.push(event.type);
  } catch (error) {
    expect(error).toMatchObject({ code: 'NOT_FOUND' });
  }
  return happened;
}

test('the caller learns that the stream is open before its first event, and each time that it is lost', async () => {
  const reset = stream('event: reset\nid: 9\ndata: {"id":"9"}\n\n');
  expect(await follow(started(3), reset, refused(404, 'NOT_FOUND'))).toEqual(['open', 'lost', 'open', 'reset', 'lost']);
});

test('a refused or silent connection is not open, so it is not lost again either', async () => {
  const outcomes: [Outcome, ...Outcome[]] = [refused(503, 'NOT_READY'), started(3), 'reset', stream(''), started(3)];
  expect(await follow(...outcomes, refused(404, 'NOT_FOUND'))).toEqual(['open', 'lost', 'open', 'lost']);
});
