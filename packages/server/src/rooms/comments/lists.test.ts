import { describe, expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { ask, newFile, newProject, ROLES, say, UNKNOWN_UUID } from './test/talk.ts';
import { idsOf, KINDS, type List, newList, walk } from './test/walk.ts';

const DESC = { sort: { direction: 'desc' } } as const;

onEachDatabase((house) => {
  describe.each(KINDS)('%s', (kind) => {
    let few: Promise<List & { ids: string[] }> | undefined;
    /** A list that is only read. */
    const withTwo = () => {
      few ??= newList(house(), kind).then(async (list) => ({ ...list, ids: await list.add(2) }));
      return few;
    };

    test('ascending, the default, starts with the newest page; prev goes to the oldest, next back', async () => {
      const list = await newList(house(), kind);
      const ids = await list.add(120);
      const first = await list.ask();
      expect(idsOf(first)).toEqual(ids.slice(70));
      expect(first.page).toEqual({ next: null, prev: expect.any(String) });
      expect(idsOf(await list.ask({ sort: { type: 'createdAt', direction: 'asc' } }))).toEqual(ids.slice(70));

      const older = await walk(first, 'prev', list.ask);
      expect(older.map(idsOf)).toEqual([ids.slice(70), ids.slice(20, 70), ids.slice(0, 20)]);
      const oldest = older.at(-1);
      expect(oldest?.page).toEqual({ next: expect.any(String), prev: null });

      const newer = await walk(oldest ?? first, 'next', list.ask);
      expect(newer.map(idsOf)).toEqual([ids.slice(0, 20), ids.slice(20, 70), ids.slice(70)]);
      expect(newer.at(-1)?.page).toEqual({ next: null, prev: expect.any(String) });
    });

    test('descending is newest first; next goes to the oldest, prev back', async () => {
      const list = await newList(house(), kind);
      const ids = (await list.add(120)).reverse();
      const turn = (cursor: object) => list.ask({ ...DESC, ...cursor });
      const first = await turn({});
      expect(first.page).toEqual({ next: expect.any(String), prev: null });
      const older = await walk(first, 'next', turn);
      expect(older.map(idsOf)).toEqual([ids.slice(0, 50), ids.slice(50, 100), ids.slice(100)]);
      expect(older.at(-1)?.page).toEqual({ next: null, prev: expect.any(String) });
      const newer = await walk(older.at(-1) ?? first, 'prev', turn);
      expect(newer.map(idsOf)).toEqual([ids.slice(100), ids.slice(50, 100), ids.slice(0, 50)]);
    });

    test('comments of the same time are ordered by id, across pages too', async () => {
      const list = await newList(house(), kind);
      const ids = await list.add(120, () => '2026-01-01 00:00:00.000000');
      expect(ids).toEqual(ids.toSorted());
      const pages = await walk(await list.ask(), 'prev', list.ask);
      expect(pages.reverse().flatMap(idsOf)).toEqual(ids);
      const turn = (cursor: object) => list.ask({ ...DESC, ...cursor });
      expect((await walk(await turn({}), 'next', turn)).flatMap(idsOf)).toEqual(ids.toReversed());
    });

    test('`resolved` lists the resolved, the open, or both', async () => {
      const list = await newList(house(), kind);
      const ids = await list.add(4);
      const [a = '', b = '', c = '', d = ''] = ids;
      for (const id of [b, d]) await house().people.owner.client.comments.resolve({ params: { id } });
      expect(idsOf(await list.ask({ resolved: true }))).toEqual([b, d]);
      expect(idsOf(await list.ask({ resolved: false }))).toEqual([a, c]);
      expect(idsOf(await list.ask())).toEqual(ids);
      expect(idsOf(await list.ask({ resolved: true, ...DESC }))).toEqual([d, b]);
    });

    test('both cursors at once are 400', async () => {
      const list = await newList(house(), kind);
      await list.add(120);
      const { prev } = (await list.ask()).page;
      const { next } = (await list.ask({ prev: prev ?? '' })).page;
      const problem = await refusal(list.ask({ next: next ?? '', prev: prev ?? '' }), 'INVALID_REQUEST');
      expect(problem.errors).toMatchObject([{ code: 'BOTH_CURSORS' }]);
    });

    test('a cursor works only unaltered, in its direction, and with the filters, order and list that it was made for', async () => {
      const [list, other] = [await newList(house(), kind), await newList(house(), kind)];
      await list.add(51);
      await other.add(51);
      const prev = (await list.ask()).page.prev ?? '';
      const next = (await list.ask(DESC)).page.next ?? '';
      await list.ask({ prev });
      await list.ask({ next, ...DESC });
      const refused: [List, object][] = [
        [list, { next: prev }],
        [list, { prev: next, ...DESC }],
        [list, { prev, ...DESC }],
        [list, { next }],
        [list, { prev, resolved: false }],
        [list, { prev, resolved: true }],
        [other, { prev }],
        [other, { next, ...DESC }],
      ];
      for (const [of, asked] of refused) {
        expect((await refusal(of.ask(asked), 'INVALID_CURSOR')).status).toBe(400);
      }
    });

    test.each(ROLES)('the %s lists', async (role) => {
      const { ask: asRole, ids } = await withTwo();
      expect(idsOf(await asRole({}, role))).toEqual(ids);
    });

    test('404 to a non-member, 403 without comments:read', async () => {
      const { path, ask: asStranger } = await withTwo();
      await refusal(asStranger({}, 'stranger'), 'NOT_FOUND');
      const { key } = await house().withScopes('owner', ['comments:write', 'projects:read', 'files:read']);
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(house().url + path, { method: 'QUERY', headers, body: '{}' });
      expect(response.status).toBe(403);
    });
  });

  test.each([
    [0, [0]],
    [1, [1]],
    [50, [50]],
    [51, [50, 1]],
    [100, [50, 50]],
    [101, [50, 50, 1]],
  ])('%d comments are pages of %j, in either direction', async (count, sizes) => {
    const list = await newList(house(), 'project');
    await list.add(count);
    const ascending = await walk(await list.ask(), 'prev', list.ask);
    expect(ascending.map(({ data }) => data.length)).toEqual(sizes);
    const turn = (cursor: object) => list.ask({ ...DESC, ...cursor });
    expect((await walk(await turn({}), 'next', turn)).map(({ data }) => data.length)).toEqual(sizes);
  });

  test.each([
    [{ resolved: 'true' }, '/resolved'],
    [{ resolved: null }, '/resolved'],
    [{ sort: { type: 'updatedAt' } }, '/sort/type'],
    [{ sort: { direction: 'up' } }, '/sort/direction'],
    [{ 'sort.direction': 'asc' }, '/sort.direction'],
    [{ limit: 10 }, '/limit'],
    [{ next: '' }, '/next'],
    [{ prev: null }, '/prev'],
  ])('%j is 400', async (body, pointer) => {
    const { path } = await newList(house(), 'project');
    const answer = await ask(house(), 'owner', 'QUERY', path, body);
    expect([answer.status, answer.body.errors.map((error: { pointer: string }) => error.pointer)]).toEqual([
      400,
      [pointer],
    ]);
  });

  test('an altered cursor is 400', async () => {
    const list = await newList(house(), 'project');
    await list.add(51);
    const prev = (await list.ask()).page.prev ?? '';
    const flipped = (prev.startsWith('A') ? 'B' : 'A') + prev.slice(1);
    const altered = [flipped, prev.slice(0, -1), prev.slice(1), `${prev}A`, `${prev}=`, ` ${prev}`, 'x', prev + prev];
    await Promise.all(altered.map((cursor) => refusal(list.ask({ prev: cursor }), 'INVALID_CURSOR')));
  });

  test('a page whose comments are all deleted is empty, and prev skips none', async () => {
    const list = await newList(house(), 'project');
    const [oldest = '', ...others] = await list.add(51);
    const { prev } = (await list.ask()).page;
    await house().people.owner.client.comments.delete({ params: { id: oldest } });
    const empty = await list.ask({ prev: prev ?? '' });
    expect(empty).toEqual({ data: [], page: { next: expect.any(String), prev: null } });
    expect(idsOf(await list.ask({ next: empty.page.next ?? '' }))).toEqual(others);
  });

  test('each list has its own comments only, and only the replies are not top-level', async () => {
    const [projectId, other] = [await newProject(house()), await newProject(house())];
    const [fileId, otherFile] = [await newFile(house(), { projectId }), await newFile(house(), { projectId })];
    const onProject = await say(house(), { projectId });
    const reply = await say(house(), { projectId, parent: { id: onProject } });
    const onFile = await say(house(), { fileId });
    const fileReply = await say(house(), { fileId, parent: { id: onFile } });
    const { comments } = house().people.owner.client;
    const body = {};
    expect(idsOf(await comments.list({ params: { id: projectId }, body }))).toEqual([onProject]);
    expect(idsOf(await comments.list({ params: { id: other }, body }))).toEqual([]);
    expect(idsOf(await comments.listOnFile({ params: { id: fileId }, body }))).toEqual([onFile]);
    expect(idsOf(await comments.listOnFile({ params: { id: otherFile }, body }))).toEqual([]);
    expect(idsOf(await comments.listReplies({ params: { id: onProject }, body }))).toEqual([reply]);
    expect(idsOf(await comments.listReplies({ params: { id: onFile }, body }))).toEqual([fileReply]);
    expect(idsOf(await comments.listReplies({ params: { id: reply }, body }))).toEqual([]);
    await refusal(comments.listReplies({ params: { id: UNKNOWN_UUID }, body }), 'NOT_FOUND');
  });

  test('a comment in a list equals the one of get', async () => {
    const projectId = await newProject(house());
    const parent = { id: await say(house(), { projectId }) };
    await say(house(), { projectId, parent });
    const { comments, reactions } = house().people.owner.client;
    await reactions.create({ params: parent, body: { type: '👍' } });
    const { data } = await comments.list({ params: { id: projectId }, body: {} });
    expect(data).toEqual([(await comments.get({ params: parent })).data]);
    expect(data).toMatchObject([{ replies: { count: 1 }, reactions: [{ reacted: true }] }]);
  });
});
