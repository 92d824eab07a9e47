import { expect, test } from 'vitest';
import { type Bodies, testAccess } from '../../test/access.ts';
import { type House, json, onEachDatabase, refusal } from '../../test/house.ts';
import { newProject } from '../../test/people.ts';

const FILM = '\u{1F3AC}';
const UNKNOWN = 'DX00000000000000000000';

/** A new project of the owner, with a helper that creates folders. */
async function cabinet(house: House) {
  const { client } = house.people.owner;
  const id = await newProject(house.people.owner);
  const make = async (name: string, parent?: { id: string } | null) =>
    (await client.folders.create({ params: { id }, body: { name, parent } })).data;
  const list = async () => (await client.folders.list({ params: { id } })).data;
  return { client, id, make, list };
}

const errorsOf = async (response: Response) => {
  const { code, errors = [] } = (await response.json()) as { code: string; errors?: { pointer: string }[] };
  return { status: response.status, code, pointers: errors.map(({ pointer }) => pointer) };
};

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  POST /api/projects/:id/folders | folders:write | O M Mb | 3 | create_folder        | 201
  GET /api/projects/:id/folders  | folders:read  | member | D | list_project_folders | 200
  PATCH /api/folders/:id         | folders:write | O M Mb | 3 | -                    | 204
  DELETE /api/folders/:id        | folders:write | O M Mb | 3 | -                    | 204`;

const BODIES: Bodies = {
  'POST /api/projects/:id/folders': () => ({ name: 'New' }),
  'PATCH /api/folders/:id': () => ({ name: 'Renamed' }),
};

onEachDatabase((house) => {
  test.each([
    ['1 letter', 'a'],
    ['64 letters', 'a'.repeat(64)],
    ['64 characters outside the basic plane', FILM.repeat(64)],
  ])('a name of %s is accepted', async (_, name) => {
    const { make, list } = await cabinet(house());
    const created = await make(name);
    expect(created).toEqual({ id: expect.stringMatching(/^DX[0-9A-HJKMNP-TV-Z]{20}$/) });
    expect((await list())[0]?.name).toBe(name);
  });

  test.each([
    ['no body', undefined, ['']],
    ['an empty name', { name: '' }, ['/name']],
    ['65 letters', { name: 'a'.repeat(65) }, ['/name']],
    ['65 characters outside the basic plane', { name: FILM.repeat(65) }, ['/name']],
    ['a number for a name', { name: 1 }, ['/name']],
    ['an unknown field', { name: 'a', colour: 'red' }, ['/colour']],
    ['a parent that is not an object', { name: 'a', parent: UNKNOWN }, ['/parent']],
    ['a parent without an id', { name: 'a', parent: {} }, ['/parent/id']],
    ['a malformed parent id', { name: 'a', parent: { id: 'DX1' } }, ['/parent/id']],
    ['the parent id of another kind', { name: 'a', parent: { id: `F${UNKNOWN.slice(1)}` } }, ['/parent/id']],
    ['an unknown field in the parent', { name: 'a', parent: { id: UNKNOWN, name: 'b' } }, ['/parent/name']],
  ])('creating with %s is 400', async (_, body, pointers) => {
    const { id, list } = await cabinet(house());
    const init = body === undefined ? {} : json(body);
    const response = await house().request('owner', 'POST', `/api/projects/${id}/folders`, init);
    expect(await errorsOf(response)).toEqual({ status: 400, code: 'INVALID_REQUEST', pointers });
    expect(await list()).toEqual([]);
  });

  test('the list has all folders, oldest first, with exactly the fields of the record', async () => {
    const { make, list } = await cabinet(house());
    const first = await make('zebra');
    const second = await make('apple', null);
    const inner = await make('inner', first);
    const folders = await list();
    const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
    expect(folders).toEqual([
      { ...first, name: 'zebra', parent: null, createdAt },
      { ...second, name: 'apple', parent: null, createdAt },
      { ...inner, name: 'inner', parent: first, createdAt },
    ]);
    const times = folders.map((folder) => folder.createdAt);
    expect(times).toEqual([...new Set(times)].sort());
  });

  test('creation times strictly increase', async () => {
    const { make, list } = await cabinet(house());
    await Promise.all(Array.from({ length: 40 }, (_, index) => make(`Folder ${index}`)));
    const times = (await list()).map((folder) => folder.createdAt);
    expect(new Set(times).size).toBe(40);
  });

  test('two folders of one parent may have the same name', async () => {
    const { make, list } = await cabinet(house());
    await make('Twin');
    await make('Twin');
    expect(await list()).toHaveLength(2);
  });

  test('a parent that does not exist, or is of another project, is 422 with its pointer', async () => {
    const [here, there] = [await cabinet(house()), await cabinet(house())];
    const elsewhere = await there.make('Elsewhere');
    for (const parent of [{ id: UNKNOWN }, elsewhere]) {
      const problem = await refusal(here.make('Inside', parent), 'REFERENCE_NOT_FOUND');
      expect(problem.status).toBe(422);
      expect(problem.errors).toMatchObject([{ pointer: '/parent/id', code: 'REFERENCE_NOT_FOUND' }]);
    }
    expect(await here.list()).toEqual([]);
  });

  test('an empty folder can be deleted', async () => {
    const { client, make, list } = await cabinet(house());
    const folder = await make('Short-lived');
    expect(await client.folders.delete({ params: folder })).toBeUndefined();
    expect(await list()).toEqual([]);
    await refusal(client.folders.delete({ params: folder }), 'NOT_FOUND');
    await refusal(client.folders.update({ params: folder, body: { name: 'Ghost' } }), 'NOT_FOUND');
  });

  test('a folder with a subfolder can be deleted only after the subfolder', async () => {
    const { client, make, list } = await cabinet(house());
    const outer = await make('Outer');
    const inner = await make('Inner', outer);
    expect((await refusal(client.folders.delete({ params: outer }), 'FOLDER_NOT_EMPTY')).status).toBe(409);
    expect(await list()).toHaveLength(2);
    await client.folders.delete({ params: inner });
    await client.folders.delete({ params: outer });
    expect(await list()).toEqual([]);
  });

  test('a folder is never deleted while a subfolder is created in it', async () => {
    const { client, make, list } = await cabinet(house());
    for (let round = 0; round < 12; round++) {
      const outer = await make(`Outer ${round}`);
      const [, ...making] = await Promise.allSettled([
        client.folders.delete({ params: outer }),
        make('Inner', outer),
        make('Inner', outer),
      ]);
      const made = making.flatMap((call) => (call.status === 'fulfilled' ? [call.value.id] : []));
      const known = (await list()).map(({ id }) => id);
      expect(known).toEqual(expect.arrayContaining(made));
      if (made.length > 0) expect(known).toContain(outer.id);
    }
  });

  testAccess(house, 'folders', ACCESS, BODIES);
});
