import { describe, expect, test } from 'vitest';
import { type Bodies, testAccess } from '../../test/access.ts';
import { onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import { ask, errorsOf, newFile, ROLES, read, say, UNKNOWN_UUID } from '../comments/test/talk.ts';

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  POST /api/comments/:id/reactions   | -             | member | 4 | - | 204
  DELETE /api/comments/:id/reactions | -             | member | 4 | - | 204
  GET /api/comments/:id/reactions    | comments:read | member | 4 | - | 200`;

const BODIES: Bodies = {
  'POST /api/comments/:id/reactions': () => ({ type: '👍' }),
  'DELETE /api/comments/:id/reactions': () => ({ type: '👍' }),
};

onEachDatabase((house) => {
  const react = (id: string, type: string, as: PersonName = 'member') =>
    house().people[as].client.reactions.create({ params: { id }, body: { type } });
  const takeBack = (id: string, type: string, as: PersonName = 'member') =>
    house().people[as].client.reactions.delete({ params: { id }, body: { type } });
  const list = async (id: string, as: PersonName = 'owner') =>
    (await house().people[as].client.reactions.list({ params: { id } })).data;
  const types = async (id: string) => (await list(id)).map(({ type, count }) => `${type} ${count}`);
  const path = (id: string, query = '') => `/api/comments/${id}/reactions${query}`;

  describe('create', () => {
    test.each(ROLES)('the %s reacts: 204 without a body', async (role) => {
      const id = await say(house());
      expect(await ask(house(), role, 'POST', path(id), { type: '👍' })).toEqual({ status: 204, body: null });
      expect(await list(id)).toMatchObject([{ type: '👍', users: [{ id: house().people[role].userId }] }]);
    });

    test.each(['stranger', 'foreigner'] as const)('the comment is 404 to a %s', async (person) => {
      const id = await say(house());
      await refusal(react(id, '👍', person), 'NOT_FOUND');
      await refusal(takeBack(id, '👍', person), 'NOT_FOUND');
      await refusal(list(id, person), 'NOT_FOUND');
    });

    test.each([UNKNOWN_UUID, 'not-a-uuid'])('an unknown comment is 404: %s', async (id) => {
      await refusal(react(id, '👍'), 'NOT_FOUND');
    });

    test('no scope is required to add and to remove', async () => {
      const params = { id: await say(house()) };
      const { client } = await house().withScopes('member', ['skills:read']);
      await client.reactions.create({ params, body: { type: '👍' } });
      await client.reactions.delete({ params, body: { type: '👍' } });
      await refusal(client.reactions.list({ params }), 'INSUFFICIENT_SCOPE');
    });

    test('the same emoji again is 409 and changes nothing', async () => {
      const id = await say(house());
      await react(id, '👍');
      expect((await refusal(react(id, '👍'), 'REACTION_EXISTS')).status).toBe(409);
      expect(await types(id)).toEqual(['👍 1']);
    });

    test('another emoji, another user and another comment are other reactions', async () => {
      const [id, other] = [await say(house()), await say(house())];
      await react(id, '👍');
      await react(id, '👎');
      await react(id, '👍', 'owner');
      await react(other, '👍');
      expect([await types(id), await types(other)]).toEqual([['👍 2', '👎 1'], ['👍 1']]);
    });

    test('of 20 concurrent requests exactly one is 204, the others are 409', async () => {
      const id = await say(house());
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => ask(house(), 'member', 'POST', path(id), { type: '👍' })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(19).fill(409)]);
      expect(await types(id)).toEqual(['👍 1']);
    });

    test.each([{}, { type: null }, { type: ['👍'] }, { type: '👍', count: 2 }])('%j is 400', async (body) => {
      expect((await ask(house(), 'member', 'POST', path(await say(house())), body)).status).toBe(400);
    });

    test('on a comment on a file, and on a reply', async () => {
      const fileId = await newFile(house());
      const parent = { id: await say(house(), { fileId }) };
      const reply = await say(house(), { fileId, parent });
      await react(parent.id, '👍');
      await react(reply, '🎉');
      expect([await types(parent.id), await types(reply)]).toEqual([['👍 1'], ['🎉 1']]);
      expect((await read(house(), parent.id)).reactions).toEqual([{ type: '👍', count: 1, reacted: false }]);
    });
  });

  describe('delete', () => {
    const held = async (...emoji: string[]) => {
      const id = await say(house());
      for (const type of emoji) await react(id, type);
      return id;
    };

    test.each(ROLES)('the %s removes their own reaction: 204 without a body', async (role) => {
      const id = await say(house());
      await react(id, '👍', role);
      expect(await ask(house(), role, 'DELETE', path(id), { type: '👍' })).toEqual({ status: 204, body: null });
      expect(await list(id)).toEqual([]);
    });

    test('and can add it again', async () => {
      const id = await held('👍');
      await takeBack(id, '👍');
      await react(id, '👍');
      expect(await types(id)).toEqual(['👍 1']);
    });

    test('the emoji can be in the query, for clients that send no body', async () => {
      const id = await held('👍', '🎉');
      const query = `?type=${encodeURIComponent('👍')}`;
      expect((await ask(house(), 'member', 'DELETE', path(id, query))).status).toBe(204);
      expect(await types(id)).toEqual(['🎉 1']);
    });

    test('the body takes precedence over the query', async () => {
      const id = await held('👍', '🎉');
      const query = `?type=${encodeURIComponent('👍')}`;
      expect((await ask(house(), 'member', 'DELETE', path(id, query), { type: '🎉' })).status).toBe(204);
      expect(await types(id)).toEqual(['👍 1']);
    });

    test('neither is 400', async () => {
      const id = await held('👍');
      const answer = await ask(house(), 'member', 'DELETE', path(id));
      expect([answer.status, answer.body.code, errorsOf(answer.body)]).toEqual([
        400,
        'INVALID_REQUEST',
        ['/type REQUIRED'],
      ]);
      expect((await ask(house(), 'member', 'DELETE', path(id), {})).status).toBe(400);
      expect(await types(id)).toEqual(['👍 1']);
    });

    test.each([
      ['?type=a', undefined, '#query/type'],
      ['?type=', undefined, '#query/type'],
      ['?kind=a', undefined, '#query/kind'],
      ['', { type: 'a' }, '/type'],
      ['', { type: '👍', all: true }, '/all'],
    ])('%j with the body %j is 400', async (query, body, pointer) => {
      const answer = await ask(house(), 'member', 'DELETE', path(await held('👍'), query), body);
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
    });

    test('a reaction that the caller does not have is 404, also the second time', async () => {
      const id = await held('👍');
      await refusal(takeBack(id, '🎉'), 'NOT_FOUND');
      await takeBack(id, '👍');
      await refusal(takeBack(id, '👍'), 'NOT_FOUND');
      await refusal(takeBack(UNKNOWN_UUID, '👍'), 'NOT_FOUND');
    });

    test('the reaction of another person stays, even for an owner', async () => {
      const id = await held('👍');
      await refusal(takeBack(id, '👍', 'owner'), 'NOT_FOUND');
      await react(id, '👍', 'owner');
      await takeBack(id, '👍', 'owner');
      expect(await list(id)).toMatchObject([{ users: [{ id: house().people.member.userId }] }]);
    });

    test('of concurrent requests exactly one is 204, the others are 404', async () => {
      const id = await held('👍');
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => ask(house(), 'member', 'DELETE', path(id), { type: '👍' })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)]);
    });

    test.each(['text/plain', 'application/x-www-form-urlencoded'])('a body of the type %s is 415', async (type) => {
      const id = await held('👍');
      const init = { body: '{"type":"👍"}', headers: { 'content-type': type } };
      expect((await house().request('member', 'DELETE', path(id), init)).status).toBe(415);
      expect(await types(id)).toEqual(['👍 1']);
    });
  });

  describe('list', () => {
    test('groups are in the order of first use, their users in the order of reaction', async () => {
      const id = await say(house());
      await react(id, '🎉', 'restricted');
      await react(id, '👍', 'owner');
      await react(id, '🎉', 'member');
      await react(id, '👍', 'manager');
      const person = (name: PersonName) => ({ id: house().people[name].userId, name: `The ${name}`, avatarUrl: null });
      expect(await list(id)).toStrictEqual([
        { type: '🎉', count: 2, users: [person('restricted'), person('member')] },
        { type: '👍', count: 2, users: [person('owner'), person('manager')] },
      ]);
      // After the first reaction is removed, the group is ordered by the first remaining one, in both views.
      await takeBack(id, '🎉', 'restricted');
      expect(await types(id)).toEqual(['👍 2', '🎉 1']);
      expect((await read(house(), id)).reactions.map(({ type }) => type)).toEqual(['👍', '🎉']);
    });

    test('has the names of the workspace', async () => {
      const { deps, people } = house();
      const id = await say(house());
      await react(id, '👍', 'reviewer');
      const shown = { display_name: 'Rev', avatar_url: 'https://a.example/rev' };
      await deps.db.updateTable('workspace_members').set(shown).where('user_id', '=', people.reviewer.userId).execute();
      expect((await list(id))[0]?.users).toEqual([
        { id: people.reviewer.userId, name: 'Rev', avatarUrl: 'https://a.example/rev' },
      ]);
    });

    test.each(ROLES)('the %s lists', async (role) => {
      const id = await say(house());
      await react(id, '👍');
      expect(await list(id, role)).toHaveLength(1);
    });

    test('is empty for a comment without any', async () => {
      expect(await list(await say(house()))).toEqual([]);
    });
  });

  testAccess(house, 'reactions', ACCESS, BODIES);
});
