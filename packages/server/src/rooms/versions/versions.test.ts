import type { ApiProblem } from '@review/client';
import { describe, expect, test } from 'vitest';
import { type Bodies, testAccess } from '../../test/access.ts';
import { onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import {
  ask,
  errorsOf,
  newFile,
  newProject,
  RECORD_TIME,
  ROLES,
  UNKNOWN_FILE,
  UNKNOWN_UUID,
  WIDE,
} from '../comments/test/talk.ts';

const EDITORS = ['owner', 'manager', 'member'] as const;
const refs = (ids: string[]) => ids.map((id) => ({ id }));

interface Fields {
  name: string;
  description?: string | null;
  allowRestricted?: boolean;
  files?: { id: string }[];
}

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  QUERY /api/versions             | projects:read  | -        | 4 | list_versions_to_review | 200
  GET /api/projects/:id/versions  | -              | member   | 4 | list_project_versions | 200
  POST /api/projects/:id/versions | projects:write | O M Mb   | 3 | -                     | 201
  GET /api/versions/:id           | -              | member   | 4 | -                     | 200
  PATCH /api/versions/:id         | projects:write | O M Mb   | 3 | -                     | 204
  PATCH /api/versions/:id/status  | projects:write | O M Mb R | 4 | -                     | 204`;

const BODIES: Bodies = {
  'QUERY /api/versions': () => ({}),
  'POST /api/projects/:id/versions': () => ({ name: 'First' }),
  'PATCH /api/versions/:id': () => ({ name: 'Renamed' }),
  'PATCH /api/versions/:id/status': () => ({ status: 'APPROVED' }),
};

onEachDatabase((house) => {
  const create = async (fields: Partial<Fields> = {}, as: PersonName = 'member', projectId = house().projectId) => {
    const { versions } = house().people[as].client;
    return (await versions.create({ params: { id: projectId }, body: { name: 'Cut', ...fields } })).data.id;
  };
  const get = async (id: string, as: PersonName = 'owner') =>
    (await house().people[as].client.versions.get({ params: { id } })).data;
  const update = (id: string, body: Partial<Fields>, as: PersonName = 'member') =>
    house().people[as].client.versions.update({ params: { id }, body });
  const newFiles = (count: number) => Promise.all(Array.from({ length: count }, () => newFile(house())));
  const path = () => `/api/projects/${house().projectId}/versions`;

  describe('create', () => {
    test.each(EDITORS)('the %s can create: 201 with the id only', async (role) => {
      const answer = await ask(house(), role, 'POST', path(), { name: 'Cut' });
      expect(answer).toEqual({ status: 201, body: { data: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) } } });
    });

    test.each(['reviewer', 'restricted'] as const)('the %s cannot: 403', async (role) => {
      await refusal(create({}, role), 'INSUFFICIENT_ROLE');
    });

    test('the project is 404 to a non-member, and 403 without projects:write', async () => {
      await refusal(create({}, 'stranger'), 'NOT_FOUND');
      const { client } = await house().withScopes('owner', ['projects:read', 'files:write']);
      const call = client.versions.create({ params: { id: house().projectId }, body: { name: 'Cut' } });
      await refusal(call, 'INSUFFICIENT_SCOPE');
    });

    test('only the name is required: a new version is NEED_REVIEW, without allowRestricted and files', async () => {
      const id = await create();
      const version = await get(id);
      expect(version).toStrictEqual({
        id,
        name: 'Cut',
        description: null,
        status: 'NEED_REVIEW',
        allowRestricted: false,
        files: [],
        thumbnailUrl: null,
        createdAt: expect.stringMatching(RECORD_TIME),
        updatedAt: version.createdAt,
        project: { id: house().projectId },
      });
    });

    test.each([
      ['one', 'a'],
      ['a space', ' '],
      ['100', 'a'.repeat(100)],
      ['100 of two UTF-16 units', WIDE.repeat(100)],
    ])('a name has 1 to 100 characters: %s', async (_, name) => {
      expect((await get(await create({ name }))).name).toBe(name);
    });

    test.each([
      ['an empty', ''],
      ['a name of 101 characters as', 'a'.repeat(101)],
      ['101 wide characters as', WIDE.repeat(101)],
      ['a NUL in the', 'a\0'],
      ['null as', null],
      ['a number as', 5],
    ])('%s name is 400', async (_, name) => {
      const answer = await ask(house(), 'member', 'POST', path(), { name });
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/name']);
    });

    test.each([
      ['null', null],
      ['empty', ''],
      ['two lines', 'A line.\nAnother.'],
      ['5000 characters', WIDE.repeat(5000)],
    ])('the description can be %s', async (_, description) => {
      expect((await get(await create({ description }))).description).toBe(description);
    });

    test('a description of 5001 characters is 400', async () => {
      const problem = await refusal(create({ description: WIDE.repeat(5001) }), 'INVALID_REQUEST');
      expect(errorsOf(problem)).toEqual(['/description TOO_LONG']);
    });

    test.each([
      [{}, '/name'],
      [{ name: 'a', status: 'APPROVED' }, '/status'],
      [{ name: 'a', descripton: 'b' }, '/descripton'],
      [{ name: 'a', allowRestricted: 'yes' }, '/allowRestricted'],
      [{ name: 'a', files: null }, '/files'],
      [{ name: 'a', files: [UNKNOWN_FILE] }, '/files/0'],
      [{ name: 'a', files: [{ id: 'FX-no-id' }] }, '/files/0/id'],
      [{ name: 'a', files: [{ id: UNKNOWN_UUID }] }, '/files/0/id'],
    ])('%j is 400', async (body, pointer) => {
      const answer = await ask(house(), 'member', 'POST', path(), body);
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
    });
  });

  describe('files', () => {
    test('are stored in the given order', async () => {
      const files = refs((await newFiles(3)).sort().reverse());
      expect((await get(await create({ files }))).files).toStrictEqual(files);
    });

    test('a repeated file is 400 at its second position', async () => {
      const [file = ''] = await newFiles(1);
      const problem = await refusal(create({ files: refs([file, file]) }), 'INVALID_REQUEST');
      expect(errorsOf(problem)).toEqual(['/files/1/id DUPLICATE']);
    });

    test("unknown ones and another project's are 422, each with its pointer, and nothing is created", async () => {
      const [file = ''] = await newFiles(1);
      const foreign = await newFile(house(), { projectId: await newProject(house()) });
      const files = refs([UNKNOWN_FILE, file, foreign]);
      const problem = await refusal(create({ name: 'Never', files }), 'REFERENCE_NOT_FOUND');
      const errors = ['/files/0/id REFERENCE_NOT_FOUND', '/files/2/id REFERENCE_NOT_FOUND'];
      expect([problem.status, errorsOf(problem)]).toEqual([422, errors]);
      const rows = await house().deps.db.selectFrom('versions').select('id').where('name', '=', 'Never').execute();
      expect(rows).toEqual([]);
      const id = await create({ files: refs([file]) });
      await refusal(update(id, { name: 'Never', files }), 'REFERENCE_NOT_FOUND');
      expect(await get(id)).toMatchObject({ name: 'Cut', files: refs([file]) });
    });

    test('a given list replaces the files, an empty one clears them, a missing one keeps them', async () => {
      const [a = '', b = '', c = ''] = await newFiles(3);
      const id = await create({ files: refs([a, b]) });
      await update(id, { files: refs([c, b]) });
      expect((await get(id)).files).toEqual(refs([c, b]));
      await update(id, { name: 'Renamed' });
      expect((await get(id)).files).toEqual(refs([c, b]));
      await update(id, { files: [] });
      expect((await get(id)).files).toEqual([]);
    });

    test('a deleted file is removed from its versions, and the others keep their order', async () => {
      const [a = '', b = '', c = ''] = await newFiles(3);
      const id = await create({ files: refs([a, b, c]) });
      await house().people.member.client.files.delete({ params: { id: b } });
      expect((await get(id)).files).toEqual(refs([a, c]));
      await refusal(update(id, { files: refs([b]) }), 'REFERENCE_NOT_FOUND');
    });

    test('a file deleted while it is added to a version is removed from it, or refused', async () => {
      const outcome = (call: Promise<unknown>) => call.then(() => 'done').catch((problem: ApiProblem) => problem.code);
      const [kept = ''] = await newFiles(1);
      const id = await create();
      for (let round = 0; round < 10; round++) {
        const [gone = ''] = await newFiles(1);
        const calls = [
          () => house().people.member.client.files.delete({ params: { id: gone } }),
          () => update(id, { files: refs([kept, gone]) }),
          () => create({ files: refs([gone, kept]) }),
        ];
        if (round % 2 === 1) calls.reverse();
        const outcomes = await Promise.all(calls.map((call) => outcome(call())));
        for (const each of outcomes) expect(['done', 'REFERENCE_NOT_FOUND']).toContain(each);
        expect((await get(id)).files).not.toContainEqual({ id: gone });
      }
    });
  });

  describe('get', () => {
    test.each(ROLES)('the %s reads a version with allowRestricted', async (role) => {
      expect((await get(await create({ allowRestricted: true }), role)).allowRestricted).toBe(true);
    });

    test('a version without allowRestricted is 404 to a restricted reviewer', async () => {
      await refusal(get(await create(), 'restricted'), 'NOT_FOUND');
    });

    test('a restricted reviewer sees only files with allowRestricted', async () => {
      const [hidden, marked] = [await newFile(house()), await newFile(house(), { allowRestricted: true })];
      const id = await create({ allowRestricted: true, files: refs([hidden, marked]) });
      expect((await get(id, 'restricted')).files).toEqual(refs([marked]));
      expect((await get(id, 'reviewer')).files).toEqual(refs([hidden, marked]));
    });

    test('no scope is needed', async () => {
      const { client } = await house().withScopes('owner', []);
      const id = await create();
      expect((await client.versions.get({ params: { id } })).data.id).toBe(id);
    });

    test('an id that is unknown, malformed or of a project without membership is 404', async () => {
      for (const id of [UNKNOWN_UUID, 'not-a-uuid']) await refusal(get(id), 'NOT_FOUND');
      const id = await create({ allowRestricted: true });
      for (const person of ['stranger', 'foreigner'] as const) await refusal(get(id, person), 'NOT_FOUND');
    });
  });

  describe('update', () => {
    const CHANGES = [{ name: 'New' }, { description: 'New' }, { description: null }, { allowRestricted: false }, {}];
    test.each(CHANGES)('%j changes these fields and updatedAt', async (change) => {
      const id = await create({ description: 'Old', allowRestricted: true, files: refs(await newFiles(1)) });
      const before = await get(id);
      expect(await ask(house(), 'member', 'PATCH', `/api/versions/${id}`, change)).toEqual({ status: 204, body: null });
      const { updatedAt, ...after } = await get(id);
      expect({ ...after, updatedAt: before.updatedAt }).toEqual({ ...before, ...change });
      expect(updatedAt > before.updatedAt).toBe(true);
    });

    test('concurrent changes of different fields are both kept', async () => {
      for (let round = 0; round < 10; round++) {
        const id = await create();
        await Promise.all([
          update(id, { name: 'Named' }),
          update(id, { description: 'Described' }, 'owner'),
          update(id, { allowRestricted: true }, 'manager'),
        ]);
        expect(await get(id)).toMatchObject({ name: 'Named', description: 'Described', allowRestricted: true });
      }
    });

    test('a new name changes the position in the order', async () => {
      const projectId = await newProject(house());
      const middle = await create({ name: 'M' }, 'member', projectId);
      const moved = await create({ name: 'z' }, 'member', projectId);
      await update(moved, { name: 'A' });
      const query = { 'sort.type': 'name', 'sort.direction': 'asc' } as const;
      const { data } = await house().people.owner.client.versions.list({ params: { id: projectId }, query });
      expect(data.map(({ id }) => id)).toEqual([moved, middle]);
    });

    test.each([
      ['an empty name', { name: '' }, '/name'],
      ['a name of 101 characters', { name: 'a'.repeat(101) }, '/name'],
      ['the name null', { name: null }, '/name'],
      ['a status', { status: 'CLOSED' }, '/status'],
      ['the mark null', { allowRestricted: null }, '/allowRestricted'],
    ])('%s is 400', async (_, body, pointer) => {
      const answer = await ask(house(), 'member', 'PATCH', `/api/versions/${await create()}`, body);
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
    });

    test.each(EDITORS)('the %s updates', async (role) => {
      const id = await create();
      await update(id, { name: 'New' }, role);
      expect((await get(id)).name).toBe('New');
    });

    test.each([
      ['reviewer', 'INSUFFICIENT_ROLE'],
      ['restricted', 'INSUFFICIENT_ROLE'],
      ['stranger', 'NOT_FOUND'],
    ] as const)('the %s cannot: %s', async (person, code) => {
      await refusal(update(await create({ allowRestricted: true }), { name: 'New' }, person), code);
    });
  });

  testAccess(house, 'versions', ACCESS, BODIES);
});
