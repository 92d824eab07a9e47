import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { sweep } from '../../sweeper.ts';
import { onEachDatabase } from '../../test/house.ts';
import { newcomer, newProject } from '../../test/people.ts';
import { KINDS, put, start, upload } from './test/uploads.ts';

const bytes = randomBytes(100);

onEachDatabase((house) => {
  test('removing a member aborts their uploads in the project: part URLs stop working, and their files are deleted', async () => {
    const owner = await newcomer(house());
    const member = await newcomer(house());
    const here = await newProject(owner, [[member, 'PROJECT_MEMBER']]);
    const elsewhere = await newProject(owner, [[member, 'PROJECT_MEMBER']]);
    const finished = await upload(member.client, 'FX', here, bytes);
    const open = await Promise.all(KINDS.map((kind) => start(member.client, kind, here, { size: bytes.length })));
    const others = [
      await start(owner.client, 'FX', here, { size: bytes.length }),
      await start(member.client, 'FX', elsewhere, { size: bytes.length }),
    ];
    const statuses = (uploads: typeof open) =>
      Promise.all(uploads.map(async ({ parts }) => (await put(parts[0]?.url ?? '', bytes)).status));

    const { data } = await owner.client.members.list({ params: { id: here } });
    const membership = data.find(({ user }) => user.id === member.userId)?.id ?? '';
    await owner.client.members.remove({ params: { id: membership } });

    expect(await statuses(open)).toEqual([404, 404, 404]);
    expect(await statuses(others)).toEqual([200, 200]);
    const files = (await owner.client.files.list({ params: { id: here } })).data.map(({ id }) => id);
    expect(files.sort()).toEqual([finished, others[0]?.id].sort());
    await sweep(house().deps);
    expect(await house().deps.db.selectFrom('pending_blob_deletions').selectAll().execute()).toEqual([]);
  });
});
