import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventually } from '../test/eventually.ts';
import { openHouse, postgresTest } from '../test/house.ts';
import { type Channel, openChannel } from './channel.ts';

const NAME = 'test_channel';

/** Sends until the receiver is connected, because notifications before that are lost. */
const arrives = (channel: Channel, id: string, received: Set<string>) =>
  eventually(async () => {
    channel.send([id]);
    return received.has(id);
  }, `the arrival of ${id}`);

postgresTest('a channel reaches other processes, not its own, and connects again after a loss', async () => {
  await using house = await openHouse('postgres');
  const { opened, db } = house.deps;
  const [here, there] = [new Set<string>(), new Set<string>()];
  const into = (received: Set<string>) => (ids: string[]) => {
    for (const id of ids) received.add(id);
  };
  await using sender = openChannel(opened, NAME, into(here));
  await using receiver = openChannel(opened, NAME, into(there));
  sender.listen();
  receiver.listen();
  await arrives(sender, 'first', there);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'project-review-service events' and datname = current_database()`.execute(db);
  await arrives(sender, 'second', there);
  const many = Array.from({ length: 500 }, (_, index) => `id-${index}`);
  sender.send(many);
  await eventually(async () => many.every((id) => there.has(id)), 'the arrival of many ids');
  expect(here).toEqual(new Set());
});
