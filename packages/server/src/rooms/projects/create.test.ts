import { expect, test } from 'vitest';
import { type House, json, onEachDatabase, refusal } from '../../test/house.ts';
import { newcomer } from '../../test/people.ts';

const FILM = '\u{1F3AC}';
const RECORD_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/;
const UNKNOWN_ID = '0195c2de-1234-7abc-8def-0123456789ab';

async function refused(house: House, body: unknown) {
  const response = await house.request('owner', 'POST', '/api/projects', json(body));
  const { code, errors = [] } = (await response.json()) as {
    code: string;
    errors?: { pointer: string; code: string }[];
  };
  return { status: response.status, code, errors: errors.map((error) => `${error.pointer} ${error.code}`) };
}

const invalid = (...errors: string[]) => ({ status: 400, code: 'INVALID_REQUEST', errors });

onEachDatabase((house) => {
  test('a new project has exactly the given fields, and the caller is its owner', async () => {
    const { client } = house().people.owner;
    const body = { name: 'Spring film', description: 'Sixty seconds.', deadline: '2028-02-29' };
    const created = await client.projects.create({ body });
    expect(Object.keys(created.data)).toEqual(['id']);
    const { data } = await client.projects.get({ params: { id: created.data.id } });
    expect(data).toEqual({
      ...body,
      id: created.data.id,
      thumbnailUrl: null,
      role: 'PROJECT_OWNER',
      createdAt: expect.stringMatching(RECORD_TIME),
      updatedAt: data.createdAt,
      deletesAt: null,
    });
  });

  test('missing fields are null', async () => {
    const { client } = house().people.owner;
    const created = await client.projects.create({ body: { name: 'Bare' } });
    const { data } = await client.projects.get({ params: { id: created.data.id } });
    expect(data).toMatchObject({ description: null, deadline: null, thumbnailUrl: null, deletesAt: null });
  });

  test('the id of a new project is a version 7 UUID', async () => {
    const created = await house().people.owner.client.projects.create({ body: { name: 'Id' } });
    expect(created.data.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test.each([
    ['one letter', 'a'],
    ['100 letters', 'a'.repeat(100)],
    ['one character outside the basic plane', FILM],
    ['100 characters outside the basic plane', FILM.repeat(100)],
  ])('a name of %s is stored unchanged', async (_, name) => {
    const { client } = house().people.owner;
    const created = await client.projects.create({ body: { name } });
    expect((await client.projects.get({ params: { id: created.data.id } })).data.name).toBe(name);
  });

  test.each([
    ['empty', '', '/name TOO_SHORT'],
    ['101 letters', 'a'.repeat(101), '/name TOO_LONG'],
    ['101 characters outside the basic plane', FILM.repeat(101), '/name TOO_LONG'],
    ['with a NUL', 'a\0b', '/name INVALID_TEXT'],
    ['with half a surrogate pair', 'a\ud83c', '/name INVALID_TEXT'],
  ])('a name that is %s is refused', async (_, name, error) => {
    expect(await refused(house(), { name })).toEqual(invalid(error));
  });

  test.each(['2027-02-30', '2027-13-01', '2027-02-29', '2027-1-1', '27-01-01', '2027-01-01T00:00:00Z', '', 20270101])(
    'the deadline %j is not a calendar day and is refused',
    async (deadline) => {
      const answer = await refused(house(), { name: 'Late', deadline });
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
      expect(answer.errors).toEqual([expect.stringMatching(/^\/deadline /)]);
    },
  );

  test('a missing name and an unknown field are refused by name', async () => {
    expect(await refused(house(), { title: 'Film' })).toEqual(
      invalid(expect.stringMatching(/^\/name /), expect.stringMatching(/^\/title /)),
    );
  });

  test('members are added with the given roles', async () => {
    const { owner } = house().people;
    const [one, two] = [await newcomer(house()), await newcomer(house())];
    const created = await owner.client.projects.create({
      body: {
        name: 'Cast',
        members: [
          { user: { id: one.userId.toUpperCase() }, role: 'PROJECT_MANAGER' },
          { user: { id: two.userId }, role: 'PROJECT_RESTRICTED_REVIEWER' },
        ],
      },
    });
    const { data } = await two.client.members.list({ params: { id: created.data.id } });
    expect(data.map(({ user, role }) => [user.id, role])).toEqual([
      [owner.userId, 'PROJECT_OWNER'],
      [one.userId, 'PROJECT_MANAGER'],
      [two.userId, 'PROJECT_RESTRICTED_REVIEWER'],
    ]);
    expect((await two.client.projects.get({ params: { id: created.data.id } })).data.role).toBe(
      'PROJECT_RESTRICTED_REVIEWER',
    );
  });

  test('an unknown member or one of another workspace is 422 with its pointer, and no project is created', async () => {
    const { foreigner } = house().people;
    const caller = await newcomer(house());
    for (const id of [UNKNOWN_ID, foreigner.userId]) {
      const members = [{ user: { id }, role: 'PROJECT_MEMBER' as const }];
      const call = caller.client.projects.create({ body: { name: 'Cast', members } });
      const problem = await refusal(call, 'REFERENCE_NOT_FOUND');
      expect(problem.status).toBe(422);
      expect(problem.errors).toMatchObject([{ pointer: '/members/0/user/id', code: 'REFERENCE_NOT_FOUND' }]);
    }
    expect((await caller.client.projects.list({ body: {} })).data).toEqual([]);
  });

  test('a repeated member is 400, also with the id in another letter case', async () => {
    const { member } = house().people;
    const members = [member.userId, member.userId.toUpperCase()].map((id) => ({
      user: { id },
      role: 'PROJECT_MEMBER',
    }));
    expect(await refused(house(), { name: 'Cast', members })).toEqual(invalid('/members/1/user/id DUPLICATE'));
  });

  test('a malformed member id is 400', async () => {
    const members = [{ user: { id: 'olive' }, role: 'PROJECT_MEMBER' }];
    expect(await refused(house(), { name: 'Cast', members })).toEqual(
      invalid(expect.stringMatching(/^\/members\/0\/user\/id /)),
    );
  });

  test('the caller as a member is 409, because the caller is the owner, and no project is created', async () => {
    const caller = await newcomer(house());
    const members = [{ user: { id: caller.userId }, role: 'PROJECT_MEMBER' as const }];
    const problem = await refusal(caller.client.projects.create({ body: { name: 'Me', members } }), 'MEMBER_EXISTS');
    expect(problem.status).toBe(409);
    expect((await caller.client.projects.list({ body: {} })).data).toEqual([]);
  });

  test('the role of an owner is refused', async () => {
    const members = [{ user: { id: house().people.member.userId }, role: 'PROJECT_OWNER' }];
    expect(await refused(house(), { name: 'Cast', members })).toEqual(invalid('/members/0/role INVALID_VALUE'));
  });

  test('an empty list of members is accepted', async () => {
    const { client } = house().people.owner;
    const created = await client.projects.create({ body: { name: 'Alone', members: [] } });
    expect((await client.members.list({ params: { id: created.data.id } })).data).toHaveLength(1);
  });
});
