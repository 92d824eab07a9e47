import { expect, test } from 'vitest';
import { findAttachments } from '../rooms/attachments/queries.ts';
import { findFilesOf, findStoredFiles } from '../rooms/files/queries.ts';
import { findGenerations } from '../rooms/generation/queries.ts';
import { renewLeases } from '../rooms/generation/slots.ts';
import { findWorkspaceUsers } from '../rooms/members/queries.ts';
import { dropUploads, findUploads } from '../rooms/uploads/queries.ts';
import { start } from '../rooms/uploads/test/uploads.ts';
import { lockFiles } from '../rooms/versions/queries.ts';
import { onEachDatabase } from '../test/house.ts';
import { anyOf } from './any-of.ts';
import { type Params, prepared } from './prepared.ts';
import { now } from './time.ts';

/** More than either database allows as bind variables of one statement. */
const COUNT = 70_000;

onEachDatabase((house) => {
  test('a statement takes any number of ids', async () => {
    const { db } = house().deps;
    const { client, userId } = house().people.owner;
    const { id } = await start(client, 'FX', house().projectId);
    const ids = [...Array.from({ length: COUNT }, (_, index) => `FX${index}`), id];
    const project = { id: house().projectId, role: 'PROJECT_OWNER' } as const;

    expect([...(await findStoredFiles(db, ids)).keys()]).toEqual([id]);
    expect([...(await findFilesOf(db, project, ids)).keys()]).toEqual([id]);
    expect([...(await findUploads(db, ids)).keys()]).toEqual([id]);
    expect([...(await findAttachments(db, project.id, userId, ids)).keys()]).toEqual([id]);
    expect((await findGenerations(db, ids)).size).toBe(0);
    const users = [...ids, userId];
    expect(await findWorkspaceUsers(db, { workspaceId: house().workspaceId, userIds: users })).toEqual(
      new Set([userId]),
    );
    await db.transaction().execute(async (trx) => {
      const tasks = ids.map((fileId) => ({ fileId, epoch: 1 }));
      expect(await renewLeases(trx, 'worker', tasks, house().deps.clock())).toHaveLength(ids.length);
      await lockFiles(trx, ids);
      await dropUploads(trx, ids, now());
      expect((await findUploads(trx, [id])).size).toBe(0);
    });
  });

  test('an empty list matches nothing, and any text can be an id', async () => {
    const { db } = house().deps;
    const find = prepared.all((building, { ids }: Params<{ ids: string[] }>) =>
      building
        .selectFrom('users')
        .select('id')
        .where('id', ...anyOf(building, ids)),
    );
    const found = async (ids: string[]) => (await find(db, { ids })).map((row) => row.id);
    expect(await found([])).toEqual([]);
    const { userId } = house().people.owner;
    const others = ['__proto__', '"', "'", '1', '\\', `["${userId}"]`, `{${userId}}`];
    expect(await found([...others, userId, userId])).toEqual([userId]);
    for (const other of others) expect(await found([other])).toEqual([]);
    expect(await found([userId])).toEqual([userId]);
  });
});
