import { cursorPage, FileRecord } from '@review/contract';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { now } from '../../db/time.ts';
import { type House, json, onEachDatabase } from '../../test/house.ts';
import { newProject } from '../../test/people.ts';

/** More than SQLite allows as bind variables of one statement. */
const COUNT = 33_000;
/** The number of files of the same time, so that pages end between them. */
const AT_ONCE = 7;

const Page = cursorPage(FileRecord);

/** Inserts a project with COUNT generated files by SQL. */
async function crowdedProject(house: House): Promise<string> {
  const { owner } = house.people;
  const id = await newProject(owner);
  const rows = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${COUNT})`;
  const fileId = sql`'FX' || '00000000000000' || cast(100000 + i as text)`;
  const at = sql`'2026-01-01 00:00:00.' || cast(100000 + i / ${sql.lit(AT_ONCE)} as text)`;
  await house.deps.db.transaction().execute(async (trx) => {
    await sql`insert into files (id, project_id, name, folded_text, mode, status, tag, output_type, created_by,
        created_at, updated_at)
      ${rows} select ${fileId}, ${id}, 'A', 'a', 'GENERATED', 'GENERATING', 'IN_PROGRESS', 'DOCUMENT',
        ${owner.userId}, ${at}, ${at} from n`.execute(trx);
    await sql`insert into generations (file_id, workspace_id, family, output_type, output_model, prompt, status, progress,
        stages, warnings, engine, epoch, lease_owner, lease_until, queued_at)
      ${rows} select ${fileId}, ${house.workspaceId}, 'document', 'DOCUMENT', 'markdown', 'A', 'RUNNING', 0,
        '{}', '[]', 'embedded', 1, 'crowd', ${now()}, ${at} from n`.execute(trx);
  });
  await sql`analyze`.execute(house.deps.db);
  return id;
}

onEachDatabase((house) => {
  test('every page of 33,000 generated files, by GET and by QUERY, repeats and misses none', {
    timeout: 300_000,
  }, async () => {
    const path = `/api/projects/${await crowdedProject(house())}/files`;
    const ask = {
      GET: (next?: string) => house().request('owner', 'GET', next ? `${path}?next=${encodeURIComponent(next)}` : path),
      QUERY: (next?: string) => house().request('owner', 'QUERY', path, json(next ? { next } : {})),
    };
    for (const method of ['GET', 'QUERY'] as const) {
      const ids: string[] = [];
      const times: number[] = [];
      for (let next: string | undefined | null; next !== null; ) {
        const began = performance.now();
        const answer = await ask[method](next);
        expect(answer.status).toBe(200);
        const page = Page.parse(await answer.json());
        times.push(performance.now() - began);
        ids.push(...page.data.map(({ id }) => id));
        expect(page.data.every(({ generation }) => generation?.status === 'RUNNING')).toBe(true);
        next = page.page.next;
      }
      expect(ids).toHaveLength(COUNT);
      expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
      const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0].map((ms) => ms.toFixed(1));
      console.log(
        `${house().deps.config.database.dialect}: ${method} of ${times.length} pages: first ${first} ms, last ${last} ms`,
      );
    }
  });
});
