import type { LinkRole } from '@review/contract';
import { expect, test } from 'vitest';
import { type House, onEachDatabase, type Person, refusal } from '../../test/house.ts';
import { membershipOf, newcomer, newProject } from '../../test/people.ts';

async function newKey({ client }: Person, projectId: string, role: LinkRole = 'PROJECT_MEMBER'): Promise<string> {
  const link = await client.accessLinks.create({ params: { id: projectId }, body: { role } });
  return String((await client.accessLinks.get({ params: link.data })).data.accessKey);
}

const redeem = (person: Person, accessKey: string) => person.client.accessLinks.redeem({ body: { accessKey } });

/** A project with a link of each role, and a person who became a member by one of them. */
async function joined(house: House) {
  const { owner } = house.people;
  const projectId = await newProject(owner);
  const key = await newKey(owner, projectId);
  const others = [await newKey(owner, projectId), await newKey(owner, projectId, 'PROJECT_RESTRICTED_REVIEWER')];
  const person = await newcomer(house);
  await redeem(person, key);
  const id = await membershipOf(person, projectId);
  const roleNow = async () => (await person.client.projects.get({ params: { id: projectId } })).data.role;
  return { owner, projectId, person, id, roleNow, oldKeys: [key, ...others] };
}

onEachDatabase((house) => {
  test('a removed member cannot rejoin by any link that existed at the removal', async () => {
    const { owner, projectId, person, id, oldKeys } = await joined(house());
    await owner.client.members.remove({ params: { id } });
    for (const key of oldKeys) await refusal(redeem(person, key), 'NOT_FOUND');
    await refusal(person.client.projects.get({ params: { id: projectId } }), 'NOT_FOUND');
    // The link still works for everyone else.
    await redeem(await newcomer(house()), oldKeys[0] ?? '');
    expect((await owner.client.members.list({ params: { id: projectId } })).data).toHaveLength(2);
  });

  test('nor after being added and removed once more', async () => {
    const { owner, projectId, person, id, oldKeys } = await joined(house());
    await owner.client.members.remove({ params: { id } });
    const body = { members: [{ user: { id: person.userId }, role: 'PROJECT_REVIEWER' as const }] };
    const [added] = (await owner.client.members.add({ params: { id: projectId }, body })).data;
    await owner.client.members.remove({ params: { id: added?.id ?? '' } });
    for (const key of oldKeys) await refusal(redeem(person, key), 'NOT_FOUND');
    expect((await owner.client.members.list({ params: { id: projectId } })).data).toHaveLength(1);
  });

  test('a demotion overrides older links: redeeming returns the member with an unchanged role', async () => {
    const { owner, person, id, roleNow, oldKeys } = await joined(house());
    await owner.client.members.update({ params: { id }, body: { role: 'PROJECT_RESTRICTED_REVIEWER' } });
    for (const key of oldKeys) expect((await redeem(person, key)).data.id).toBe(id);
    expect(await roleNow()).toBe('PROJECT_RESTRICTED_REVIEWER');
  });

  test('an older link does not raise a role that a lead gave after a removal', async () => {
    const { owner, projectId, person, id, roleNow, oldKeys } = await joined(house());
    await owner.client.members.remove({ params: { id } });
    const body = { members: [{ user: { id: person.userId }, role: 'PROJECT_REVIEWER' as const }] };
    await owner.client.members.add({ params: { id: projectId }, body });
    await redeem(person, oldKeys[0] ?? '');
    expect(await roleNow()).toBe('PROJECT_REVIEWER');
  });

  test('a link that a lead creates afterwards works', async () => {
    const { owner, projectId, person, id, roleNow } = await joined(house());
    await owner.client.members.update({ params: { id }, body: { role: 'PROJECT_RESTRICTED_REVIEWER' } });
    await redeem(person, await newKey(owner, projectId, 'PROJECT_REVIEWER'));
    expect(await roleNow()).toBe('PROJECT_REVIEWER');
    await owner.client.members.remove({ params: { id } });
    await redeem(person, await newKey(owner, projectId));
    expect(await roleNow()).toBe('PROJECT_MEMBER');
  });

  test('a redeem concurrent with a removal never undoes it', async () => {
    for (let round = 0; round < 5; round++) {
      const { owner, projectId, person, id, oldKeys } = await joined(house());
      await Promise.all([
        owner.client.members.remove({ params: { id } }),
        ...Array.from({ length: 5 }, () => redeem(person, oldKeys[0] ?? '').catch(() => {})),
      ]);
      await refusal(person.client.projects.get({ params: { id: projectId } }), 'NOT_FOUND');
      expect((await owner.client.members.list({ params: { id: projectId } })).data).toHaveLength(1);
    }
  });
});
