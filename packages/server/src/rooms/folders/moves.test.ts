import { expect, test } from 'vitest';
import { type House, json, onEachDatabase, refusal } from '../../test/house.ts';
import { newProject } from '../../test/people.ts';

async function cabinet(house: House) {
  const { client } = house.people.owner;
  const id = await newProject(house.people.owner);
  const make = async (name: string, parent?: { id: string }) =>
    (await client.folders.create({ params: { id }, body: { name, parent } })).data;
  const change = (folder: { id: string }, body: { name?: string; parent?: { id: string } | null }) =>
    client.folders.update({ params: folder, body });
  const list = async () => (await client.folders.list({ params: { id } })).data;
  return { id, make, change, list };
}

/** The paths from each folder to the root, limited in length in case of a cycle. */
function paths(folders: { id: string; name: string; parent: { id: string } | null }[]): string[] {
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  return folders.map((folder) => {
    const names = [folder.name];
    for (let above = folder.parent; above !== null && names.length <= folders.length; ) {
      const next = byId.get(above.id);
      names.unshift(next?.name ?? '(gone)');
      above = next?.parent ?? null;
    }
    return names.join('/');
  });
}

const hasCycle = (folders: Parameters<typeof paths>[0]) =>
  paths(folders).some((path) => path.split('/').length > folders.length);

onEachDatabase((house) => {
  test('a rename changes the name and nothing else', async () => {
    const { make, change, list } = await cabinet(house());
    const outer = await make('Outer');
    const inner = await make('Inner', outer);
    const before = await list();
    expect(await change(inner, { name: 'Renamed' })).toBeUndefined();
    expect(await list()).toEqual(
      before.map((folder) => (folder.id === inner.id ? { ...folder, name: 'Renamed' } : folder)),
    );
  });

  test('a move changes only the parent; null moves to the root; the content moves along', async () => {
    const { make, change, list } = await cabinet(house());
    const [a, b] = [await make('a'), await make('b')];
    await make('c', a);
    await change(a, { parent: b });
    expect(paths(await list())).toEqual(['b/a', 'b', 'b/a/c']);
    await change(a, { parent: null, name: 'A' });
    expect(paths(await list())).toEqual(['A', 'b', 'A/c']);
  });

  test('an update without fields changes nothing', async () => {
    const { make, change, list } = await cabinet(house());
    const outer = await make('Outer');
    const inner = await make('Inner', outer);
    const before = await list();
    await change(inner, {});
    expect(await list()).toEqual(before);
  });

  test('a folder cannot move into itself or a descendant', async () => {
    const { make, change, list } = await cabinet(house());
    const a = await make('a');
    const b = await make('b', a);
    const c = await make('c', b);
    for (const parent of [a, b, c]) {
      expect((await refusal(change(a, { parent, name: 'moved' }), 'FOLDER_CYCLE')).status).toBe(409);
    }
    expect(paths(await list())).toEqual(['a', 'a/b', 'a/b/c']);
  });

  test('a folder moves only within its project', async () => {
    const [here, there] = [await cabinet(house()), await cabinet(house())];
    const folder = await here.make('Here');
    for (const parent of [await there.make('There'), { id: 'DX00000000000000000000' }]) {
      const problem = await refusal(here.change(folder, { parent }), 'REFERENCE_NOT_FOUND');
      expect([problem.status, problem.errors[0]?.pointer]).toEqual([422, '/parent/id']);
    }
    expect(paths(await here.list())).toEqual(['Here']);
  });

  test.each([
    [{ name: '' }, '/name'],
    [{ name: 'a'.repeat(65) }, '/name'],
    [{ name: null }, '/name'],
    [{ parent: { id: 'DX' } }, '/parent/id'],
    [{ parent: {} }, '/parent/id'],
    [{ folder: null }, '/folder'],
  ])('the update %j is 400', async (body, pointer) => {
    const { make, list } = await cabinet(house());
    const folder = await make('Same');
    const response = await house().request('owner', 'PATCH', `/api/folders/${folder.id}`, json(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer }] });
    expect(paths(await list())).toEqual(['Same']);
  });

  test('of two concurrent moves into each other one is refused', async () => {
    const { make, change, list } = await cabinet(house());
    for (let round = 0; round < 10; round++) {
      const [a, b] = [await make(`a${round}`), await make(`b${round}`)];
      const moves = await Promise.allSettled([change(a, { parent: b }), change(b, { parent: a })]);
      expect(moves.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(moves.find((move) => move.status === 'rejected')).toMatchObject({ reason: { code: 'FOLDER_CYCLE' } });
      expect(hasCycle(await list())).toBe(false);
    }
  });

  test('concurrent moves never make a cycle', async () => {
    const { make, change, list } = await cabinet(house());
    const [a, b, c] = [await make('a'), await make('b'), await make('c')];
    for (let round = 0; round < 6; round++) {
      await Promise.allSettled([change(a, { parent: b }), change(b, { parent: c }), change(c, { parent: a })]);
      expect(hasCycle(await list())).toBe(false);
      await Promise.all([a, b, c].map((folder) => change(folder, { parent: null })));
    }
  });

  test('a concurrent rename does not undo a move', async () => {
    const { make, change, list } = await cabinet(house());
    const [a, b] = [await make('a'), await make('b')];
    for (let round = 0; round < 8; round++) {
      const parent = round % 2 === 0 ? b : null;
      await Promise.all([change(a, { parent }), change(a, { name: `name ${round}` })]);
      expect((await list())[0]).toMatchObject({ name: `name ${round}`, parent });
    }
  });
});
