import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { findStoredFiles } from '../rooms/files/queries.ts';
import { findGenerations } from '../rooms/generation/queries.ts';
import { workerOf } from '../rooms/generation/test/generations.ts';
import { deleteDueProjects } from '../rooms/projects/queries.ts';
import { dropUploads } from '../rooms/uploads/queries.ts';
import { type House, onEachDatabase } from '../test/house.ts';

import { newUuid } from './ids.ts';
import { withoutTimeouts } from './open.ts';
import { now } from './time.ts';

/** More than either database allows as bind variables of one statement. */
const COUNT = 70_000;
const TIMEOUT_MS = 120_000;

const idOf = (prefix: string, index: number) => `${prefix}${String(100_000 + index).padStart(20, '0')}`;
const ids = (prefix: string) => Array.from({ length: COUNT }, (_, index) => idOf(prefix, index + 1));

/** Inserts a project with COUNT folders, files, generations and uploads by SQL. */
async function crowdedProject({ deps: { db }, workspaceId, people }: House): Promise<string> {
  const id = newUuid();
  const at = now();
  const user = people.owner.userId;
  const rows = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${COUNT})`;
  const rowId = (prefix: string) => sql`${prefix} || '00000000000000' || cast(100000 + i as text)`;
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('projects')
      .values({
        id,
        workspace_id: workspaceId,
        name: 'Crowded',
        folded_name: 'crowded',
        folded_text: 'crowded',
        created_at: at,
        updated_at: at,
        deletes_at: null,
      })
      .execute();
    await trx
      .insertInto('project_members')
      .values({ id: newUuid(), project_id: id, user_id: user, role: 'PROJECT_OWNER', created_at: at })
      .execute();
    await sql`insert into folders (id, project_id, name, created_at)
      ${rows} select ${rowId('DX')}, ${id}, 'A', ${at} from n`.execute(trx);
    await sql`insert into files (id, project_id, folder_id, name, folded_text, mode, status, tag, output_type,
        storage_key, created_by, created_at, updated_at)
      ${rows} select ${rowId('FX')}, ${id}, ${rowId('DX')}, 'A', 'a', 'GENERATED', 'GENERATING', 'IN_PROGRESS', 'DOCUMENT',
        ${rowId('file-')}, ${user}, ${at}, ${at} from n`.execute(trx);
    await sql`insert into generations (file_id, workspace_id, family, output_type, output_model, prompt, status, progress,
        stages, warnings, engine, epoch, lease_owner, lease_until, queued_at)
      ${rows} select ${rowId('FX')}, ${workspaceId}, 'document', 'DOCUMENT', 'markdown', 'A', 'RUNNING', 0,
        '{}', '[]', 'embedded', 1, 'crowd', ${at}, ${at} from n`.execute(trx);
    await sql`insert into uploads (id, project_id, started_by, name, size, part_count, storage_key, created_at, expires_at)
      ${rows} select ${rowId('CA')}, ${id}, ${user}, 'A', 1, 1, ${rowId('upload-')}, ${at}, ${at} from n`.execute(trx);
  });
  return id;
}

onEachDatabase((house) => {
  test(
    'the number of bind variables does not depend on the number of rows',
    async () => {
      const { db } = house().deps;
      const projectId = await crowdedProject(house());
      // In production, autovacuum keeps the statistics of such tables up to date.
      await sql`analyze`.execute(db);

      const { data } = await house().people.owner.client.folders.list({ params: { id: projectId } });
      expect(data).toHaveLength(COUNT);

      expect((await findStoredFiles(db, ids('FX'))).size).toBe(COUNT);
      expect((await findGenerations(db, ids('FX'))).size).toBe(COUNT);

      const held = Array.from({ length: 10_000 }, (_, index) => ({ fileId: idOf('FX', index + 1), epoch: 1 }));
      const tasks = [...held.slice(1), { fileId: idOf('FX', 0), epoch: 1 }];
      const renewed = await workerOf(house()).renew({ body: { worker: 'crowd', tasks } });
      expect(renewed.data.lost).toEqual([idOf('FX', 0)]);

      await db.transaction().execute((trx) => dropUploads(trx, ids('CA').slice(1), now()));
      const pendingDeletions = () =>
        db
          .selectFrom('pending_blob_deletions')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow();
      expect(Number((await pendingDeletions()).count)).toBe(COUNT - 1);

      await db.updateTable('projects').set({ deletes_at: now() }).where('id', '=', projectId).execute();
      expect(await withoutTimeouts(house().deps.opened, (unlimited) => deleteDueProjects(unlimited, now()))).toBe(1);
      expect(Number((await pendingDeletions()).count)).toBe(2 * COUNT);
      expect(await db.selectFrom('files').select('id').where('project_id', '=', projectId).execute()).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
