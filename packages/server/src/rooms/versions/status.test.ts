import { REVIEW_STATUSES, type ReviewStatus } from '@review/contract';
import { expect, test } from 'vitest';
import { onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import { ask } from '../comments/test/talk.ts';

const REVIEWERS = ['owner', 'manager', 'member', 'reviewer'] as const;

onEachDatabase((house) => {
  const create = async () => {
    const body = { name: 'Cut', allowRestricted: true };
    return (await house().people.member.client.versions.create({ params: { id: house().projectId }, body })).data.id;
  };
  const get = async (id: string) => (await house().people.owner.client.versions.get({ params: { id } })).data;
  const set = (id: string, status: ReviewStatus, as: PersonName = 'owner') =>
    house().people[as].client.versions.setStatus({ params: { id }, body: { status } });

  test('there are seven statuses, as specified', () => {
    expect(REVIEW_STATUSES).toEqual([
      'IN_PROGRESS',
      'NEED_REVIEW',
      'NEED_EDIT',
      'ON_HOLD',
      'APPROVED',
      'REJECTED',
      'CLOSED',
    ]);
  });

  test.each(REVIEW_STATUSES)('%s can be set: 204, nothing else but updatedAt changes', async (status) => {
    const id = await create();
    const before = await get(id);
    const answer = await ask(house(), 'owner', 'PATCH', `/api/versions/${id}/status`, { status });
    expect(answer).toEqual({ status: 204, body: null });
    const after = await get(id);
    expect(after).toEqual({ ...before, status, updatedAt: after.updatedAt });
    expect(after.updatedAt > before.updatedAt).toBe(true);
  });

  test.each([
    [{ status: 'DONE' }, '/status'],
    [{ status: 'approved' }, '/status'],
    [{ status: null }, '/status'],
    [{}, '/status'],
    [{ status: 'APPROVED', note: 'Fine.' }, '/note'],
  ])('%j is 400', async (body, pointer) => {
    const answer = await ask(house(), 'owner', 'PATCH', `/api/versions/${await create()}/status`, body);
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test.each(REVIEWERS)('the %s can set any status, including CLOSED', async (role) => {
    const id = await create();
    for (const status of ['APPROVED', 'NEED_EDIT', 'CLOSED'] as const) await set(id, status, role);
    expect((await get(id)).status).toBe('CLOSED');
  });

  test.each([
    ['restricted', 'INSUFFICIENT_ROLE'],
    ['stranger', 'NOT_FOUND'],
    ['foreigner', 'NOT_FOUND'],
  ] as const)('the %s cannot: %s', async (person, code) => {
    await refusal(set(await create(), 'APPROVED', person), code);
  });

  test.each(['owner', 'manager'] as const)('the %s can reopen a closed version', async (role) => {
    const id = await create();
    await set(id, 'CLOSED');
    await set(id, 'IN_PROGRESS', role);
    expect((await get(id)).status).toBe('IN_PROGRESS');
  });

  test.each(['member', 'reviewer'] as const)('the %s cannot: 403 for every status but CLOSED', async (role) => {
    const id = await create();
    await set(id, 'CLOSED');
    for (const status of REVIEW_STATUSES.filter((each) => each !== 'CLOSED')) {
      expect((await refusal(set(id, status, role), 'INSUFFICIENT_ROLE')).status).toBe(403);
    }
    await set(id, 'CLOSED', role);
    expect((await get(id)).status).toBe('CLOSED');
  });

  test('an update of a closed version keeps it closed', async () => {
    const id = await create();
    await set(id, 'CLOSED');
    await house().people.member.client.versions.update({ params: { id }, body: { name: 'Renamed' } });
    expect(await get(id)).toMatchObject({ name: 'Renamed', status: 'CLOSED' });
  });

  test('needs projects:write', async () => {
    const { client } = await house().withScopes('owner', ['projects:read', 'files:write']);
    const call = client.versions.setStatus({ params: { id: await create() }, body: { status: 'APPROVED' } });
    await refusal(call, 'INSUFFICIENT_SCOPE');
  });
});
