import { sql } from 'kysely';
import type { DatabaseAddress } from '../src/db/database.ts';
import { openDatabase } from '../src/db/open.ts';
import { bearer, Connections, percentile, requestBytes } from './load.ts';
import { vacuum } from './seed.ts';
import type { Running } from './servers.ts';
import type { Site } from './site.ts';

/** Medians in milliseconds of a search by one keyword, over one connection. */
export interface SearchFigures {
  keyword: string;
  projects: number;
  files: number;
}

/** Each name has one of ten frequent words; every 20,000th has rare ones. */
const KEYWORDS = {
  'in every name': 'shot',
  'in a tenth of the names': 'film',
  'in five names': 'outtake',
  'in one name': 'shot 12345 ',
  'in none': 'nowhere',
  'one CJK character': '版',
  'two CJK characters': '最終',
  'an emoji': '🎬',
};
/** How many times as many requests warm up the server. */
const WARM_UP = 5;
const WORDS = ['lamp', 'film', 'scene', 'draft', 'intro', 'outro', 'trailer', 'teaser', 'render', 'mix'];

/** Adds that many projects of the person who makes the requests, and as many files to the seeded project. */
export async function addSearchedRows(address: DatabaseAddress, projectId: string, count: number): Promise<void> {
  await using opened = openDatabase(address, () => {});
  const { db } = opened;
  const rows = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)}),
    word(position, text) as (values ${sql.join(WORDS.map((word, position) => sql`(${sql.lit(position)}, ${sql.lit(word)})`))})`;
  const number = sql`cast(100000 + i as text)`;
  const at = sql`'2026-01-01 00:00:00.' || ${number}`;
  const name = sql`'shot ' || cast(i as text) || ' ' || word.text ||
    case when i % ${sql.lit(Math.ceil(count / 5))} = 7 then ' outtake 最終版 🎬' else '' end`;
  const from = sql`from n join word on word.position = i % 10 join projects as seeded on seeded.id = ${projectId}`;
  const id = sql`'019b0000-0000-7000-8000-000000' || ${number}`;
  await sql`insert into projects (id, workspace_id, name, folded_name, folded_text, created_at, updated_at)
    ${rows} select ${id}, seeded.workspace_id, ${name}, ${name}, ${name}, ${at}, ${at} ${from}`.execute(db);
  const owner = sql`join project_members as owner on owner.project_id = seeded.id and owner.role = 'PROJECT_OWNER'`;
  await sql`insert into project_members (id, project_id, user_id, role, created_at)
    ${rows} select ${id}, ${id}, owner.user_id, owner.role, ${at} ${from} ${owner}`.execute(db);
  await sql`insert into files (id, project_id, name, folded_text, mode, status, tag, created_by, created_at, updated_at)
    ${rows} select 'FX00000000000000' || ${number}, seeded.id, ${name}, ${name}, 'UPLOADED', 'UPLOADED', 'CLOSED',
      owner.user_id, ${at}, ${at} ${from} ${owner}`.execute(db);
  await vacuum(opened);
}

export async function measureSearch({ seeded }: Site, server: Running, requests: number): Promise<SearchFigures[]> {
  using connections = await Connections.open(server.port, 1);
  const measure = async (path: string, keyword: string) => {
    const request = requestBytes('QUERY', path, bearer(seeded.key), { keyword });
    await connections.send([request], requests * WARM_UP);
    return percentile(await connections.send([request], requests), 0.5);
  };
  const figures: SearchFigures[] = [];
  for (const [title, keyword] of Object.entries(KEYWORDS)) {
    figures.push({
      keyword: title,
      projects: await measure('/api/projects', keyword),
      files: await measure(`/api/projects/${seeded.projectId}/files`, keyword),
    });
  }
  return figures;
}
