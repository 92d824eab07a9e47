import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inTransaction } from '../../db/transaction.ts';
import { openDeps } from '../../open-deps.ts';
import { sweep } from '../../sweeper.ts';
import { json, onEachDatabase, refusal } from '../../test/house.ts';
import { newProject } from '../../test/people.ts';
import { appendEvents, type NewEvent, writeWithEvents } from './outbox.ts';
import { listEventsAfter } from './queries.ts';
import { lastSequence, storedEvents, typesOf } from './test/streams.ts';

const restored = (projectId: string): NewEvent => ({
  type: 'project.restored',
  projectId,
  subjectId: projectId,
  data: {},
});

onEachDatabase((house) => {
  const owner = () => house().people.owner;

  test('a refused change leaves no event and no gap', async () => {
    const params = { id: await newProject(owner()) };
    const { comments } = owner().client;
    const body = { content: 'Good.', attachments: [{ id: 'CA00000000000000000000' }] };
    await refusal(comments.create({ params, body }), 'REFERENCE_NOT_FOUND');
    await expect(
      writeWithEvents(house().deps, null, async (trx) => {
        await appendEvents(trx, null, [restored(params.id)]);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await comments.create({ params, body: { content: 'Good.' } });
    const events = await storedEvents(house(), params.id);
    expect(events.map(({ id, type }) => [id, type])).toEqual([
      ['1', 'project.created'],
      ['2', 'comment.created'],
    ]);
  });

  test('a change whose event cannot be stored is undone', async () => {
    const params = { id: await newProject(owner()) };
    const unknown = '00000000-0000-4000-8000-000000000000';
    const rename = writeWithEvents(house().deps, null, async (trx) => {
      await trx.updateTable('projects').set({ name: 'Renamed' }).where('id', '=', params.id).execute();
      return { answer: undefined, events: [restored(params.id), restored(unknown)] };
    });
    await expect(rename).rejects.toThrow(/foreign key/i);
    expect((await owner().client.projects.get({ params })).data.name).not.toBe('Renamed');
    expect(await lastSequence(house(), params.id)).toBe(1);
  });

  test('a migration of the table of events does not fail the next change, nor store its event twice', async () => {
    const params = { id: await newProject(owner()) };
    const create = () => owner().client.comments.create({ params, body: { content: 'Good.' } });
    await create();
    await house().deps.db.schema.alterTable('events').addColumn('added', 'integer').execute();
    await create();
    expect(await lastSequence(house(), params.id)).toBe(3);
    expect(await storedEvents(house(), params.id)).toHaveLength(3);
    await house().deps.db.schema.alterTable('events').dropColumn('added').execute();
  });

  test('transactions of another isolation level do not store the events of earlier ones again', async () => {
    const { db } = house().deps;
    const id = await newProject(owner());
    const others = Array.from({ length: 20 }, () =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute((trx) => trx.selectFrom('projects').select('id').where('id', '=', id).execute()),
    );
    await Promise.all(others);
    expect(await lastSequence(house(), id)).toBe(1);
  });

  test('the events of one change are numbered in their order, those of each project by themselves', async () => {
    const [one, other] = [await newProject(owner()), await newProject(owner())];
    const commented = (projectId: string, subjectId: string): NewEvent => ({
      type: 'comment.created',
      projectId,
      subjectId,
      data: { file: null, parent: null, attachments: [] },
    });
    const ids = Array.from({ length: 12 }, () => randomUUID());
    await writeWithEvents(house().deps, owner().userId, async () => ({
      answer: undefined,
      events: [...ids.map((id) => commented(one, id)), commented(other, one), restored(one)],
    }));
    const stored = await storedEvents(house(), one, 1);
    expect(stored.map(({ id, subject }) => [id, subject.id])).toEqual(
      [...ids, one].map((id, index) => [String(index + 2), id]),
    );
    expect(new Set(stored.map(({ actor }) => actor?.id))).toEqual(new Set([owner().userId]));
    expect([await lastSequence(house(), one), await lastSequence(house(), other)]).toEqual([14, 2]);
  });

  test('a repeated request emits its events once', async () => {
    const id = await newProject(owner());
    const send = () =>
      house().request(
        'owner',
        'POST',
        `/api/projects/${id}/comments`,
        json({ content: 'Once.' }, { 'idempotency-key': id }),
      );
    const statuses = [(await send()).status, (await send()).status];
    expect(statuses).toEqual([201, 201]);
    expect(typesOf(await storedEvents(house(), id))).toEqual(['project.created', 'comment.created']);
  });

  test('no event becomes visible behind one that was already read', async () => {
    const projectId = await newProject(owner());
    const others = house().dialect === 'postgres' ? [openDeps(house().deps.config, house().deps.log)] : [];
    const all = [house().deps, ...others];
    const [writers, changes] = [8, 25];
    const read: number[] = [];
    let isDone = false;
    const reading = (async () => {
      while (!isDone || read.length < writers * changes + 1) {
        const batch = await listEventsAfter(house().deps.db, { projectId, after: read.at(-1) ?? 0 });
        read.push(...batch.map(({ sequence }) => sequence));
        // Queries of SQLite end in the same turn of the event loop, in which no writer would run.
        await turn();
      }
    })();
    const write = async (writer: number) => {
      const deps = all[writer % all.length] ?? house().deps;
      for (let change = 0; change < changes; change++) {
        await writeWithEvents(deps, null, async () => ({ answer: undefined, events: [restored(projectId)] }));
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    isDone = true;
    await reading;
    for (const deps of others) await deps[Symbol.asyncDispose]();
    expect(read).toEqual(Array.from({ length: writers * changes + 1 }, (_, index) => index + 1));
  });

  test('changes of several projects in any order do not block each other', async () => {
    const ids = await Promise.all(Array.from({ length: 3 }, () => newProject(owner())));
    const orders = [ids, ids.toReversed(), [...ids.slice(1), ...ids.slice(0, 1)]];
    await Promise.all(
      Array.from({ length: 30 }, (_, round) =>
        inTransaction(house().deps.db, (trx) => appendEvents(trx, null, (orders[round % 3] ?? []).map(restored))),
      ),
    );
    for (const id of ids) expect(await lastSequence(house(), id)).toBe(31);
  });

  test('a project and its events are deleted together, while others write', async () => {
    const id = await newProject(owner());
    const due = { deletes_at: '2000-01-01 00:00:00.000000' };
    await house().deps.db.updateTable('projects').set(due).where('id', '=', id).execute();
    const writing = Array.from({ length: 10 }, () =>
      writeWithEvents(house().deps, null, async () => ({ answer: undefined, events: [restored(id)] })),
    );
    await Promise.all([sweep(house().deps), Promise.allSettled(writing)]);
    await sweep(house().deps);
    expect(await storedEvents(house(), id)).toEqual([]);
    expect(await lastSequence(house(), id)).toBe(0);
  });

  test.each([
    ['oldest', [1, 2, 3], ['4']],
    ['all', [1, 2, 3, 4], []],
    ['a later', [3], ['1', '2', '3', '4']],
  ])('if %s events are expired, the sweep leaves no gap, and numbers continue', async (_, expired, kept) => {
    const params = { id: await newProject(owner()) };
    for (const name of ['a', 'b', 'c']) await owner().client.folders.create({ params, body: { name } });
    await house()
      .deps.db.updateTable('events')
      .set({ at: '2000-01-01 00:00:00.000000' })
      .where('project_id', '=', params.id)
      .where('sequence', 'in', expired)
      .execute();
    await sweep(house().deps);
    expect((await storedEvents(house(), params.id)).map(({ id }) => id)).toEqual(kept);
    await owner().client.folders.create({ params, body: { name: 'd' } });
    expect((await storedEvents(house(), params.id)).map(({ id }) => id)).toEqual([...kept, '5']);
  });
});
