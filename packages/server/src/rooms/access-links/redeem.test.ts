import { PROJECT_ROLES, type ProjectRole } from '@review/contract';
import { expect, test, vi } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { type House, json, onEachDatabase, type Person, type PersonName, refusal } from '../../test/house.ts';

const LINK_ROLES = ['PROJECT_MEMBER', 'PROJECT_REVIEWER', 'PROJECT_RESTRICTED_REVIEWER'] as const;
type LinkRole = (typeof LINK_ROLES)[number];

const REDEEM = '/api/project-access-links/redeem';

interface Opened {
  projectId: string;
  linkId: string;
  accessKey: string;
}

/** A project that only its owner belongs to, with a link to it. */
async function openProject(house: House, role: LinkRole = 'PROJECT_REVIEWER', by: PersonName = 'owner') {
  const { client } = house.people[by];
  const project = await client.projects.create({ body: { name: 'Fresh' } });
  return { projectId: project.data.id, ...(await newLink(house.people[by], project.data.id, role)) } satisfies Opened;
}

async function newLink({ client }: Person, projectId: string, role: LinkRole) {
  const link = await client.accessLinks.create({ params: { id: projectId }, body: { role } });
  const { accessKey } = (await client.accessLinks.get({ params: link.data })).data;
  if (accessKey === null) throw new Error('the key is not shown');
  return { linkId: link.data.id, accessKey };
}

const redeem = async (person: Person, accessKey: string) =>
  (await person.client.accessLinks.redeem({ body: { accessKey } })).data.id;

const membersOf = async (house: House, projectId: string) =>
  (await house.people.owner.client.members.list({ params: { id: projectId } })).data;

const membershipOf = async (house: House, person: Person, projectId: string) =>
  (await membersOf(house, projectId)).find(({ user }) => user.id === person.userId);

/** Every combination of an existing role and the role of a link. */
const MEETINGS = PROJECT_ROLES.flatMap((had) => LINK_ROLES.map((granted) => [had, granted] as const));

onEachDatabase((house) => {
  test.each(LINK_ROLES)(
    'a link of %s makes the caller a member with that role, and answers 201 with the member id',
    async (role) => {
      const { projectId, accessKey } = await openProject(house(), role);
      const response = await house().request('stranger', 'POST', REDEEM, json({ accessKey }));
      const member = await membershipOf(house(), house().people.stranger, projectId);
      expect(member?.role).toBe(role);
      expect([response.status, await response.json()]).toEqual([201, { data: { id: member?.id } }]);
    },
  );

  test('needs no scope', async () => {
    const { projectId, accessKey } = await openProject(house());
    await redeem(await house().withScopes('stranger', []), accessKey);
    expect(await membersOf(house(), projectId)).toHaveLength(2);
  });

  test('a link can be used by many', async () => {
    const { projectId, accessKey } = await openProject(house());
    await redeem(house().people.stranger, accessKey);
    await redeem(house().people.reviewer, accessKey);
    expect(await membersOf(house(), projectId)).toHaveLength(3);
  });

  test.each(MEETINGS)('a %s who redeems a link of %s has the stronger role', async (had, granted) => {
    const { projectId } = await openProject(house());
    const { owner, stranger } = house().people;
    const body = { members: [{ user: { id: stranger.userId }, role: 'PROJECT_REVIEWER' as const }] };
    const [added] = (await owner.client.members.add({ params: { id: projectId }, body })).data;
    if (added === undefined) throw new Error('no member was added');
    await owner.client.members.update({ params: added, body: { role: had } });
    const { accessKey } = await newLink(owner, projectId, granted);

    expect(await redeem(stranger, accessKey)).toBe(added.id);
    const strength = (role: ProjectRole) => PROJECT_ROLES.indexOf(role);
    const stronger = strength(had) <= strength(granted) ? had : granted;
    expect((await membershipOf(house(), stranger, projectId))?.role).toBe(stronger);
  });

  test('twenty concurrent redeems by one person create one member', async () => {
    const { projectId, accessKey } = await openProject(house());
    const ids = await Promise.all(Array.from({ length: 20 }, () => redeem(house().people.stranger, accessKey)));
    expect(new Set(ids).size).toBe(1);
    expect(await membersOf(house(), projectId)).toHaveLength(2);
  });

  test('two links redeemed concurrently by one person give the stronger role', async () => {
    const { projectId, accessKey } = await openProject(house(), 'PROJECT_RESTRICTED_REVIEWER');
    const { owner, stranger } = house().people;
    const stronger = await owner.client.accessLinks.create({
      params: { id: projectId },
      body: { role: 'PROJECT_MEMBER' },
    });
    const { accessKey: strongerKey } = (await owner.client.accessLinks.get({ params: stronger.data })).data;
    await Promise.all(
      [accessKey, String(strongerKey)].flatMap((key) => [redeem(stranger, key), redeem(stranger, key)]),
    );
    expect((await membershipOf(house(), stranger, projectId))?.role).toBe('PROJECT_MEMBER');
  });

  test('members stay when the link that they redeemed is deleted', async () => {
    const { projectId, linkId, accessKey } = await openProject(house());
    await redeem(house().people.stranger, accessKey);
    await house().people.owner.client.accessLinks.delete({ params: { id: linkId } });
    expect(await membershipOf(house(), house().people.stranger, projectId)).toBeDefined();
  });

  test('a repeated idempotency key gets the same response, even after the link is deleted', async () => {
    const { linkId, accessKey } = await openProject(house());
    const body = json({ accessKey }, { 'idempotency-key': linkId });
    const first = await (await house().request('stranger', 'POST', REDEEM, body)).json();
    await house().people.owner.client.accessLinks.delete({ params: { id: linkId } });
    const again = await house().request('stranger', 'POST', REDEEM, body);
    expect([again.headers.get('idempotency-replayed'), await again.json()]).toEqual(['true', first]);
  });

  test("a key of another workspace's project is 404 and adds no member", async () => {
    const { projectId, accessKey } = await openProject(house());
    await refusal(redeem(house().people.foreigner, accessKey), 'NOT_FOUND');
    const members = await house()
      .deps.db.selectFrom('project_members')
      .select('user_id')
      .where('project_id', '=', projectId)
      .execute();
    expect(members).toEqual([{ user_id: house().people.owner.userId }]);
  });

  test('an expired link is 404, one that is about to expire is not', async () => {
    const { linkId, accessKey } = await openProject(house());
    const expireAt = (expires_at: string) =>
      house().deps.db.updateTable('access_links').set({ expires_at }).where('id', '=', linkId).execute();
    await expireAt(secondsFromNow(0));
    await refusal(redeem(house().people.stranger, accessKey), 'NOT_FOUND');
    await expireAt(secondsFromNow(60));
    await redeem(house().people.stranger, accessKey);
  });

  test('a deleted link is 404', async () => {
    const { linkId, accessKey } = await openProject(house());
    await house().people.owner.client.accessLinks.delete({ params: { id: linkId } });
    await refusal(redeem(house().people.stranger, accessKey), 'NOT_FOUND');
  });

  test('an invalid key is 404: unknown, truncated, in another letter case, or the hash itself', async () => {
    const { linkId, accessKey } = await openProject(house());
    const { key_hash, sealed_key } = await house()
      .deps.db.selectFrom('access_links')
      .select(['key_hash', 'sealed_key'])
      .where('id', '=', linkId)
      .executeTakeFirstOrThrow();
    const swapped = accessKey.replace(/[a-z]/gi, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    for (const key of [
      'A'.repeat(22),
      accessKey.slice(0, -1),
      ` ${accessKey}`,
      swapped,
      key_hash,
      sealed_key,
      linkId,
    ]) {
      await refusal(redeem(house().people.stranger, key), 'NOT_FOUND');
    }
  });

  test('a project that is being deleted is 409 and gets no new member', async () => {
    const { projectId, accessKey } = await openProject(house());
    const { owner, stranger } = house().people;
    await owner.client.projects.delete({ params: { id: projectId } });
    const problem = await refusal(redeem(stranger, accessKey), 'PROJECT_DELETING');
    expect(problem.status).toBe(409);
    expect(await membersOf(house(), projectId)).toHaveLength(1);
    await owner.client.projects.cancelDelete({ params: { id: projectId } });
    await redeem(stranger, accessKey);
  });

  test.each([
    ['no key', {}, '/accessKey'],
    ['a null key', { accessKey: null }, '/accessKey'],
    ['an empty key', { accessKey: '' }, '/accessKey'],
    ['a key of 256 characters', { accessKey: 'a'.repeat(256) }, '/accessKey'],
    ['an unknown field', { accessKey: 'a', role: 'PROJECT_MEMBER' }, '/role'],
  ])('%s is 400', async (_, body, pointer) => {
    const response = await house().request('stranger', 'POST', REDEEM, json(body));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer }] });
  });

  test('no log line contains a key, valid or not', async () => {
    const { accessKey } = await openProject(house());
    const log = vi.spyOn(house().deps.log, 'info');
    const lines = () => log.mock.calls.map((line) => JSON.stringify(line)).join();
    await redeem(house().people.stranger, accessKey);
    await refusal(redeem(house().people.foreigner, accessKey), 'NOT_FOUND');
    await expect.poll(lines).toMatch(/POST [^ ]*redeem 201.*redeem 404/);
    expect(lines()).not.toContain(accessKey);
    log.mockRestore();
  });

  test('without a credential it is 401', async () => {
    const { accessKey } = await openProject(house());
    expect((await house().request(null, 'POST', REDEEM, json({ accessKey }))).status).toBe(401);
  });
});
