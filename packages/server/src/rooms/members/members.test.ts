import { expect, test } from 'vitest';
import { type Bodies, testAccess } from '../../test/access.ts';
import { type House, json, onEachDatabase, type Person, refusal } from '../../test/house.ts';
import { newcomer, newProject } from '../../test/people.ts';

const UNKNOWN_ID = '0195c2de-1234-7abc-8def-0123456789ab';

const asMember = (person: Person) => ({ user: { id: person.userId }, role: 'PROJECT_MEMBER' as const });

const usersOf = async ({ client }: Person, id: string) =>
  (await client.members.list({ params: { id } })).data.map(({ user }) => user.id);

const refusedAdd = async (house: House, id: string, body: unknown) => {
  const response = await house.request('owner', 'POST', `/api/projects/${id}/members`, json(body));
  const { code, errors } = (await response.json()) as { code: string; errors: { pointer: string; code: string }[] };
  return { status: response.status, code, errors: errors.map((error) => `${error.pointer} ${error.code}`) };
};

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  GET /api/workspace/members      | workspace-members:read | -      | D | list_workspace_members | 200
  GET /api/projects/:id/members   | project-members:read   | member | D | list_project_members   | 200
  POST /api/projects/:id/members  | project-members:write  | O M    | 3 | add_project_members    | 201
  PATCH /api/project-members/:id  | project-members:write  | O M    | 3 | -                      | 204
  DELETE /api/project-members/:id | project-members:write  | O M    | 3 | -                      | 204`;

const BODIES: Bodies = {
  'POST /api/projects/:id/members': (_, { spareUserId: id }) => ({
    members: [{ user: { id }, role: 'PROJECT_MEMBER' }],
  }),
  'PATCH /api/project-members/:id': () => ({ role: 'PROJECT_MEMBER' }),
};

onEachDatabase((house) => {
  test('member records have exactly the fields of the API reference, oldest member first', async () => {
    const owner = await newcomer(house(), { avatarUrl: 'https://example.com/owner.png' });
    const reviewer = await newcomer(house());
    const id = await newProject(owner, [[reviewer, 'PROJECT_REVIEWER']]);
    const { data } = await reviewer.client.members.list({ params: { id } });
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        role: 'PROJECT_OWNER',
        user: {
          id: owner.userId,
          email: owner.email,
          name: owner.name,
          avatarUrl: 'https://example.com/owner.png',
        },
      },
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        role: 'PROJECT_REVIEWER',
        user: { id: reviewer.userId, email: reviewer.email, name: reviewer.name, avatarUrl: null },
      },
    ]);
  });

  test("the display name and avatar of a workspace override the account's, in that workspace only", async () => {
    const { deps, people, workspaceId } = house();
    const here = await newcomer(house(), { avatarUrl: 'https://example.com/account.png' });
    const there = await newcomer(house(), { email: here.email, workspaceId: people.foreigner.workspaceId });
    await deps.db
      .updateTable('workspace_members')
      .set({ display_name: 'Olive here', avatar_url: 'https://example.com/here.png' })
      .where('workspace_id', '=', workspaceId)
      .where('user_id', '=', here.userId)
      .execute();
    const shown = async (person: Person) =>
      (await person.client.members.list({ params: { id: await newProject(person) } })).data[0]?.user;
    expect(await shown(here)).toMatchObject({ name: 'Olive here', avatarUrl: 'https://example.com/here.png' });
    expect(await shown(there)).toMatchObject({ name: here.name, avatarUrl: 'https://example.com/account.png' });
  });

  test('adding returns the new member ids in the order of the request', async () => {
    const owner = await newcomer(house());
    const added = await Promise.all(Array.from({ length: 5 }, () => newcomer(house())));
    const asked = [3, 0, 4, 1, 2].flatMap((index) => added[index] ?? []);
    const id = await newProject(owner);
    const answer = await owner.client.members.add({ params: { id }, body: { members: asked.map(asMember) } });
    const { data } = await owner.client.members.list({ params: { id } });
    const userOf = new Map(data.map((member) => [member.id, member.user.id]));
    expect(answer.data.map((member) => Object.keys(member))).toEqual(asked.map(() => ['id']));
    expect(answer.data.map((member) => userOf.get(member.id))).toEqual(asked.map(({ userId }) => userId));
  });

  test('100 can be added in one call, 101 cannot', async () => {
    const owner = await newcomer(house());
    const crowd = await Promise.all(Array.from({ length: 101 }, () => newcomer(house())));
    const id = await newProject(owner);
    const problem = await refusal(
      owner.client.members.add({ params: { id }, body: { members: crowd.map(asMember) } }),
      'INVALID_REQUEST',
    );
    expect(problem.errors).toMatchObject([{ pointer: '/members', code: 'TOO_MANY' }]);
    expect(await usersOf(owner, id)).toEqual([owner.userId]);
    const answer = await owner.client.members.add({
      params: { id },
      body: { members: crowd.slice(0, 100).map(asMember) },
    });
    expect(answer.data).toHaveLength(100);
    expect(await usersOf(owner, id)).toHaveLength(101);
  });

  test('an existing member is 409, and no one is added', async () => {
    const [owner, old, fresh] = [await newcomer(house()), await newcomer(house()), await newcomer(house())];
    const id = await newProject(owner, [[old, 'PROJECT_REVIEWER']]);
    const call = owner.client.members.add({ params: { id }, body: { members: [fresh, old].map(asMember) } });
    expect((await refusal(call, 'MEMBER_EXISTS')).status).toBe(409);
    expect(await usersOf(owner, id)).toEqual([owner.userId, old.userId]);
    expect((await old.client.projects.get({ params: { id } })).data.role).toBe('PROJECT_REVIEWER');
  });

  test('unknown users and those of another workspace are 422 with their pointers, and no one is added', async () => {
    const { people } = house();
    const [owner, fresh] = [await newcomer(house()), await newcomer(house())];
    const id = await newProject(owner);
    const members = [fresh, people.foreigner, { ...fresh, userId: UNKNOWN_ID }].map(asMember);
    const problem = await refusal(
      owner.client.members.add({ params: { id }, body: { members } }),
      'REFERENCE_NOT_FOUND',
    );
    expect(problem.status).toBe(422);
    expect(problem.errors.map(({ pointer }) => pointer)).toEqual(['/members/1/user/id', '/members/2/user/id']);
    expect(await usersOf(owner, id)).toEqual([owner.userId]);
  });

  test('an invalid request is 400', async () => {
    const { people, projectId } = house();
    const { userId } = people.stranger;
    const one = { user: { id: userId }, role: 'PROJECT_MEMBER' };
    const cases: [unknown, string][] = [
      [{}, '/members REQUIRED'],
      [{ members: [] }, '/members TOO_FEW'],
      [{ members: [one, one] }, '/members/1/user/id DUPLICATE'],
      [{ members: [{ ...one, role: 'PROJECT_OWNER' }] }, '/members/0/role INVALID_VALUE'],
      [{ members: [{ ...one, role: 'OWNER' }] }, '/members/0/role INVALID_VALUE'],
      [{ members: [{ ...one, user: { id: 'me' } }] }, '/members/0/user/id INVALID_FORMAT'],
      [{ members: [{ user: { id: userId } }] }, '/members/0/role REQUIRED'],
      [{ members: [{ ...one, note: 'hello' }] }, '/members/0/note UNKNOWN_FIELD'],
    ];
    for (const [body, error] of cases) {
      expect(await refusedAdd(house(), projectId, body)).toEqual({
        status: 400,
        code: 'INVALID_REQUEST',
        errors: [error],
      });
    }
  });

  test('of concurrent calls that add the same people in any order one adds them all, the others are 409', async () => {
    const owner = await newcomer(house());
    const crowd = await Promise.all(Array.from({ length: 60 }, () => newcomer(house())));
    const orders = [crowd, crowd.toReversed(), crowd, crowd.toReversed()];
    for (let round = 0; round < 3; round++) {
      const id = await newProject(owner);
      const calls = await Promise.allSettled(
        orders.map((people) => owner.client.members.add({ params: { id }, body: { members: people.map(asMember) } })),
      );
      const outcomes = calls.map((call) => (call.status === 'fulfilled' ? 'added' : call.reason.code));
      expect(outcomes.sort()).toEqual(['MEMBER_EXISTS', 'MEMBER_EXISTS', 'MEMBER_EXISTS', 'added']);
      expect(new Set(await usersOf(owner, id)).size).toBe(61);
    }
  });

  test('the people of the workspace only are listed, with exactly the fields of the record', async () => {
    const { people } = house();
    const shown = await newcomer(house(), { displayName: 'Shown', avatarUrl: 'https://example.com/a.png' });
    const { data } = await people.restricted.client.members.listWorkspace();
    expect(data.find(({ user }) => user.id === shown.userId)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user: { id: shown.userId, email: shown.email, name: 'Shown', avatarUrl: 'https://example.com/a.png' },
    });
    const ids = data.map(({ user }) => user.id);
    expect(ids).toEqual(expect.arrayContaining([people.owner.userId, people.stranger.userId]));
    expect(ids).not.toContain(people.foreigner.userId);
    const theirs = await people.foreigner.client.members.listWorkspace();
    expect(theirs.data.map(({ user }) => user.id)).toContain(people.foreigner.userId);
    expect(theirs.data.map(({ user }) => user.id)).not.toContain(people.owner.userId);
  });

  testAccess(house, 'members', ACCESS, BODIES);
});
