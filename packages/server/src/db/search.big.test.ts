import { CompiledQuery, sql } from 'kysely';
import { expect, test } from 'vitest';
import { type House, onEachDatabase } from '../test/house.ts';
import { newcomer, newProject } from '../test/people.ts';
import { sentWhile } from '../test/sent-statements.ts';
import { newUuid } from './ids.ts';
import { withoutTimeouts } from './open.ts';

const COUNT = 100_000;

/** Inserts COUNT projects of a new person and COUNT files into one of them by SQL; every 20,000th has a rare text. */
async function fill(house: House) {
  const person = await newcomer(house);
  const projectId = await newProject(person);
  // The last digits of a UUID number the rows.
  const prefix = newUuid().slice(0, -6);
  const rows = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(COUNT)})`;
  const id = sql`${prefix} || cast(100000 + i as text)`;
  const fileId = sql`${prefix.replaceAll('-', '').slice(-14).toUpperCase()} || cast(100000 + i as text)`;
  const at = sql`'2026-01-01 00:00:00.' || cast(100000 + i as text)`;
  const name = sql`'shot ' || cast(i as text) || case when i % 20000 = 7 then ' 最終版 rare 🎬' else ' draft' end`;
  await withoutTimeouts(house.deps.opened, async (db) => {
    await sql`insert into projects (id, workspace_id, name, folded_name, folded_text, created_at, updated_at)
    ${rows} select ${id}, ${person.workspaceId}, ${name}, ${name}, ${name}, ${at}, ${at} from n`.execute(db);
    await sql`insert into project_members (id, project_id, user_id, role, created_at)
    ${rows} select ${id}, ${id}, ${person.userId}, 'PROJECT_OWNER', ${at} from n`.execute(db);
    await sql`insert into files (id, project_id, name, folded_text, mode, status, tag, created_by, created_at, updated_at)
    ${rows} select 'FX' || ${fileId}, ${projectId}, ${name}, ${name}, 'UPLOADED', 'UPLOADED', 'CLOSED', ${person.userId}, ${at}, ${at} from n`.execute(
      db,
    );
  });
  return { person, projectId };
}

/** The plans of the statements that the work sends. */
async function plansOf({ deps: { db }, dialect }: House, work: () => Promise<unknown>): Promise<string[]> {
  const sent = (await sentWhile(db, work)).filter(({ sql: text }) => /^select/.test(text));
  const plans: string[] = [];
  for (const { sql: text, parameters } of sent) {
    const plan = CompiledQuery.raw(`explain ${dialect === 'sqlite' ? 'query plan' : ''} ${text}`, [...parameters]);
    const { rows } = await db.executeQuery<Record<string, unknown>>(plan);
    plans.push(rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n'));
  }
  return plans;
}

onEachDatabase((house) => {
  test.each(['analyzed', 'not analyzed'])(
    'a search in 100,000 projects and files uses the index: %s',
    { timeout: 300_000 },
    async (statistics) => {
      const { person, projectId } = await fill(house());
      if (statistics === 'analyzed') await sql`analyze`.execute(house().deps.db);
      const { dialect } = house();
      for (const keyword of ['rare', 'RARE 🎬', '最', '終版', '🎬', 'shot 20007 ']) {
        const count = keyword.startsWith('shot') ? 1 : 5;
        const searches = {
          projects: () => person.client.projects.list({ body: { keyword } }),
          files: () => person.client.files.list({ params: { id: projectId }, body: { keyword } }),
        };
        for (const table of ['projects', 'files'] as const) {
          const plans = await plansOf(house(), async () => expect((await searches[table]()).data).toHaveLength(count));
          const index =
            dialect === 'sqlite' ? /SCAN (\w+_search|term) VIRTUAL TABLE/ : `Bitmap Index Scan on ${table}_search`;
          const lookUps = plans.filter((plan) => plan.search(index) >= 0);
          expect(lookUps, plans.join('\n\n')).toHaveLength(1);
          const scans = plans.filter((plan) => /(SCAN|Seq Scan on) (projects|files)\b/.test(plan));
          // SQLite scans the rows that the look-up has found, and searches the memberships for each.
          const ofFound =
            /^(CO-ROUTINE \w+\nSEARCH \w+ USING INDEX sqlite_autoindex_\w+_1 \(id=\?\)\n.*SCAN \w+\n(SEARCH membership)?)/s;
          expect(scans.filter((plan) => !ofFound.test(plan))).toEqual([]);
        }
      }
    },
  );
});
