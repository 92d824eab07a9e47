import { expect, test } from 'vitest';
import { type House, onEachDatabase } from '../test/house.ts';
import { newcomer } from '../test/people.ts';
import {
  findMember,
  findUser,
  findWorkspaceByName,
  insertWorkspace,
  joinWorkspace,
  type NewPerson,
} from './queries.ts';

const join = ({ deps }: House, person: NewPerson) => deps.db.transaction().execute((trx) => joinWorkspace(trx, person));

/** The name and avatar of a person in the workspace. */
async function shown(house: House, workspaceId: string, userId: string) {
  const viewer = await newcomer(house, { workspaceId });
  const { data } = await viewer.client.members.listWorkspace();
  return data.filter(({ user }) => user.id === userId).map(({ user }) => [user.name, user.avatarUrl]);
}

onEachDatabase((house) => {
  const ACCOUNT = 'https://example.com/account.png';
  const OWN = 'https://example.com/own.png';

  test('an e-mail with an account joins that account in any letter case and does not change it', async () => {
    const { people, workspaceId } = house();
    const first = await newcomer(house(), { name: 'First', avatarUrl: ACCOUNT });
    const elsewhere = people.foreigner.workspaceId;
    const again = { workspaceId: elsewhere, email: first.email.toUpperCase(), name: 'Second' };
    expect(await join(house(), again)).toBe(first.userId);
    expect(await shown(house(), elsewhere, first.userId)).toEqual([['First', ACCOUNT]]);
    expect(await shown(house(), workspaceId, first.userId)).toEqual([['First', ACCOUNT]]);
  });

  test('only the same ASCII address finds an account', async () => {
    const { workspaceId, deps } = house();
    const { userId } = await newcomer(house(), { email: `kay-${workspaceId}@example.com` });
    const lookAlike = `\u212aay-${workspaceId}@example.com`;
    expect(await findMember(deps.db, workspaceId, `Kay-${workspaceId}@example.com`)).toBe(userId);
    expect(await findMember(deps.db, workspaceId, lookAlike)).toBeUndefined();
    expect(await findUser(deps.db, lookAlike)).toBeUndefined();
    await expect(join(house(), { workspaceId, email: lookAlike, name: 'Another' })).rejects.toThrow(/ASCII/);
  });

  test('a display name and an avatar for an existing account apply to the workspace only', async () => {
    const { people, workspaceId } = house();
    const first = await newcomer(house(), { name: 'First', avatarUrl: ACCOUNT });
    const elsewhere = people.foreigner.workspaceId;
    await join(house(), { ...first, workspaceId: elsewhere, displayName: 'There', avatarUrl: OWN });
    expect(await shown(house(), elsewhere, first.userId)).toEqual([['There', OWN]]);
    expect(await shown(house(), workspaceId, first.userId)).toEqual([['First', ACCOUNT]]);
  });

  test('joining again changes the given fields and keeps the others', async () => {
    const { workspaceId } = house();
    const { email, userId } = await newcomer(house(), { name: 'First', displayName: 'Old', avatarUrl: ACCOUNT });
    const again = { workspaceId, email, name: 'Ignored' };
    expect(await join(house(), again)).toBe(userId);
    expect(await shown(house(), workspaceId, userId)).toEqual([['Old', ACCOUNT]]);
    await join(house(), { ...again, displayName: 'New' });
    expect(await shown(house(), workspaceId, userId)).toEqual([['New', ACCOUNT]]);
    await join(house(), { ...again, avatarUrl: OWN });
    expect(await shown(house(), workspaceId, userId)).toEqual([['New', OWN]]);
  });

  test('concurrent joins with one e-mail create one account and one member', async () => {
    const { workspaceId } = house();
    const person = { workspaceId, email: 'crowd@example.com', name: 'Crowd' };
    const ids = await Promise.all(Array.from({ length: 8 }, () => join(house(), person)));
    expect(new Set(ids).size).toBe(1);
    expect(await shown(house(), workspaceId, ids[0] ?? '')).toHaveLength(1);
  });

  test('a member is found by id or by e-mail, in their own workspace only', async () => {
    const { deps, people, workspaceId } = house();
    const person = await newcomer(house(), { email: 'Found@Example.com' });
    for (const name of [person.userId, 'found@example.com', 'FOUND@example.com']) {
      expect(await findMember(deps.db, workspaceId, name)).toBe(person.userId);
      expect(await findMember(deps.db, people.foreigner.workspaceId, name)).toBeUndefined();
    }
    expect(await findMember(deps.db, workspaceId, 'nobody@example.com')).toBeUndefined();
  });

  test('the first of several workspaces with one name is found', async () => {
    const { db } = house().deps;
    const first = await insertWorkspace(db, 'Twins');
    await insertWorkspace(db, 'Other');
    expect(await findWorkspaceByName(db, 'Twins')).toBe(first);
    expect(await findWorkspaceByName(db, 'twins')).toBeUndefined();
  });
});
