import { type ApiProblem, createClient, type EventsReset, type ProjectEvent } from '@review/client';
import { expect, test } from 'vitest';
import { type House, onEachDatabase } from './test/house.ts';
import { membershipOf, newcomer, newProject } from './test/people.ts';
import { wireTo } from './test/wire.ts';

type Received = ProjectEvent | EventsReset;

async function studio(house: House) {
  const [owner, member] = [await newcomer(house), await newcomer(house)];
  const id = await newProject(owner, [[member, 'PROJECT_MEMBER']]);
  const folder = (name: string) => owner.client.folders.create({ params: { id }, body: { name } });
  return { id, owner, member, folder };
}

/** The next items of an iteration. */
async function take(events: AsyncIterator<Received, void>, count: number): Promise<Received[]> {
  const taken: Received[] = [];
  while (taken.length < count) {
    const { value } = await events.next();
    if (value === undefined) throw new Error(`the iteration ended after ${taken.length} of ${count}`);
    taken.push(value);
  }
  return taken;
}

/** The typed client's iteration over the events of a project. */
onEachDatabase((house) => {
  test('yields typed events after the given one', async () => {
    const { id, owner, member } = await studio(house());
    const events = member.client.events(id, { after: '1' });
    const [added] = await take(events, 1);
    expect(added).toMatchObject({ id: '2', type: 'member.added' });
    if (added?.type === 'member.added') expect(added.data.role).toBe('PROJECT_MEMBER');
    const { data } = await owner.client.comments.create({ params: { id }, body: { content: 'Good.' } });
    expect(await take(events, 1)).toMatchObject([{ id: '3', type: 'comment.created', subject: data }]);
    await events.return();
  });

  test('continues after cuts, and repeats and skips nothing', async () => {
    const { id, member, folder } = await studio(house());
    await using wire = await wireTo(house().url);
    const client = createClient({ baseUrl: wire.url.replace(/\/$/, ''), token: member.key });
    const events = client.events(id, { after: '2' });
    const [rounds, changes] = [6, 15];
    const writing = (async () => {
      for (let round = 0; round < rounds; round++) {
        for (let change = 0; change < changes; change++) await folder(`${round} ${change}`);
        await wire.cut();
        await folder('while cut');
        await wire.mend();
      }
    })();
    const received = await take(events, rounds * (changes + 1));
    await writing;
    expect(received.map((event) => event.id)).toEqual(received.map((_, index) => String(index + 3)));
    await events.return();
  });

  test('yields a reset if events after the last one are not kept', async () => {
    const { id, member, folder } = await studio(house());
    for (const name of ['a', 'b']) await folder(name);
    await house().deps.db.deleteFrom('events').where('project_id', '=', id).where('sequence', '<', 4).execute();
    const events = member.client.events(id, { after: '1' });
    expect(await take(events, 1)).toEqual([{ type: 'reset', id: '4' }]);
    await folder('c');
    expect(await take(events, 1)).toMatchObject([{ id: '5', type: 'folder.created' }]);
    await events.return();
  });

  test('throws the problem when access is lost, and at once where there is none', async () => {
    const { id, owner, member, folder } = await studio(house());
    const events = member.client.events(id);
    const lost = expect(events.next()).rejects.toMatchObject({ code: 'NOT_FOUND' } satisfies Partial<ApiProblem>);
    await owner.client.members.remove({ params: { id: await membershipOf(member, id) } });
    await folder('unseen');
    await lost;
    await expect(member.client.events(id).next()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('ends with the reason of its signal', async () => {
    const { id, member } = await studio(house());
    const stop = new AbortController();
    const next = member.client.events(id, { signal: stop.signal }).next();
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(next).rejects.toBe(reason);
  });
});
