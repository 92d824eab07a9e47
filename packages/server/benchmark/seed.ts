import { SCOPES } from '@review/contract';
import { sql } from 'kysely';
import { insertWorkspace, joinWorkspace } from '../src/accounts/queries.ts';
import { issueKey } from '../src/credentials/issue.ts';
import type { DatabaseAddress, OpenDatabase } from '../src/db/database.ts';
import { newId, newUuid } from '../src/db/ids.ts';
import { migrate } from '../src/db/migrate.ts';
import { openDatabase } from '../src/db/open.ts';
import type { Database, Writer } from '../src/db/schema.ts';
import { now } from '../src/db/time.ts';
import { insertProject } from '../src/rooms/projects/queries.ts';
import { insertVersion } from '../src/rooms/versions/queries.ts';

const PEOPLE = 20;
const VERSIONS = 60;
/** About the length of a long remark, so that a page has about 45 kB. */
const CONTENT = 'The light in the second shot is too cold; see the reference from last week.'.padEnd(400, ' .');

/** What the requests of the benchmark need to know about the data. */
export interface Seeded {
  key: string;
  projectId: string;
  /** New comments go here, so that the page of the other project stays the same. */
  writtenProjectId: string;
  fileId: string;
  /** A sample over all comments. */
  commentIds: string[];
}

/**
 * Cleans up the tables of Postgres that have rows and gathers their statistics, as autovacuum does in production; it would otherwise
 * begin while the benchmark measures. A table that was analyzed while it was empty is read as a whole, and autovacuum leaves
 * it alone. SQLite has no statistics there: with them it would prepare statements again for each execution, because a plan
 * may then depend on the values.
 */
export async function vacuum({ db, dialect }: OpenDatabase): Promise<void> {
  if (dialect !== 'postgres') return;
  const { rows } = await sql<{ name: string }>`select relname as name from pg_stat_user_tables
    where pg_relation_size(relid) > 0`.execute(db);
  const tables = rows.map(({ name }) => sql.table(name));
  await sql`vacuum analyze ${sql.join(tables)}`.execute(db);
}

/** Migrates the database and fills it with one project of that many comments, half of them with a reply. */
export async function seed(address: DatabaseAddress, comments: number): Promise<Seeded> {
  await using opened = openDatabase(address, () => {});
  const { db } = opened;
  await migrate(opened);
  const workspaceId = await insertWorkspace(db, 'Benchmark');
  const people: string[] = [];
  await db.transaction().execute(async (trx) => {
    for (let index = 0; index < PEOPLE; index++) {
      const displayName = index % 3 === 0 ? `Reviewer ${index}` : null;
      const person = { email: `person-${index}@benchmark.example`, name: `Person ${index}`, displayName };
      people.push(await joinWorkspace(trx, { workspaceId, ...person }));
    }
  });
  const [userId = ''] = people;
  const { key } = await issueKey(db, { workspaceId, userId, scopes: SCOPES });
  const projectId = await addProject(db, workspaceId, people);
  const writtenProjectId = await addProject(db, workspaceId, people);
  await db.transaction().execute((trx) => addComments(trx, projectId, people, comments));
  const fileId = await addFileAndVersions(db, projectId, userId);
  await vacuum(opened);
  const step = Math.max(1, Math.floor(comments / 500));
  const commentIds = Array.from({ length: Math.floor(comments / step) }, (_, index) => commentId(1 + index * step));
  return { key, projectId, writtenProjectId, fileId, commentIds };
}

async function addProject(db: Database, workspaceId: string, people: string[]): Promise<string> {
  const id = newUuid();
  await db.transaction().execute(async (trx) => {
    await insertProject(trx, {
      id,
      workspace_id: workspaceId,
      name: 'Spring campaign',
      description: null,
      deadline: null,
      created_at: now(),
    });
    for (const [index, userId] of people.entries()) {
      const role = index === 0 ? 'PROJECT_OWNER' : 'PROJECT_MEMBER';
      const member = { id: newUuid(), project_id: id, user_id: userId, role, created_at: now() } as const;
      await trx.insertInto('project_members').values(member).execute();
    }
  });
  return id;
}

const FIRST = 100_000_000_000;
const commentId = (index: number) => `019a0000-0000-7000-8000-${FIRST + index}`;

/** Generates the rows in the database: a million of them would take minutes to send. */
async function addComments(trx: Writer, projectId: string, people: string[], count: number): Promise<void> {
  const number = sql`cast(${sql.lit(FIRST)} + i as text)`;
  const topLevelId = sql`'019a0000-0000-7000-8000-' || ${number}`;
  const at = sql`'2026-01-' || cast(10 + i / 100000 as text) || ' 00:00:00.' || cast(100000 + i % 100000 as text)`;
  const persons = sql.join(people.map((id, position) => sql`(${sql.lit(position)}, ${sql.lit(id)})`));
  const rows = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)}),
    person(position, id) as (values ${persons})`;
  const personAt = (offset: number) => sql`person.position = (i + ${sql.lit(offset)}) % ${sql.lit(PEOPLE)}`;
  const columns = sql`insert into comments (id, project_id, parent_id, author_id, content, created_at, updated_at)`;
  const project = sql.lit(projectId);
  const content = sql.lit(CONTENT);

  await sql`${columns} ${rows} select ${topLevelId}, ${project}, null, person.id, ${content}, ${at}, ${at}
    from n join person on ${personAt(0)}`.execute(trx);
  await sql`${columns} ${rows} select '019a0000-0000-7000-9000-' || ${number}, ${project}, ${topLevelId}, person.id,
    ${content}, ${at}, ${at} from n join person on ${personAt(1)} where i % 2 = 0`.execute(trx);
  await sql`insert into reactions (comment_id, user_id, type, created_at) ${rows}
    select ${topLevelId}, person.id, '👍', ${at} from n join person on ${personAt(2)} or ${personAt(3)}`.execute(trx);
  await sql`insert into reactions (comment_id, user_id, type, created_at) ${rows}
    select ${topLevelId}, person.id, '🎉', ${at} from n join person on ${personAt(4)} where i % 5 = 0`.execute(trx);
  await sql`insert into uploads (id, project_id, started_by, name, size, part_count, storage_key, completed_with,
      mime_type, comment_id, comment_position, created_at, expires_at) ${rows}
    select 'CA00000000' || ${number}, ${project}, person.id, 'frame.png', 52311, 1, 'frame-' || ${number}, 'done',
      'image/png', ${topLevelId}, 0, ${at}, ${at} from n join person on ${personAt(0)} where i % 3 = 0`.execute(trx);
}

async function addFileAndVersions(db: Database, projectId: string, userId: string): Promise<string> {
  const id = newId('FX');
  await db.transaction().execute(async (trx) => {
    const at = now();
    await trx
      .insertInto('files')
      .values({
        id,
        project_id: projectId,
        name: 'cut.mp4',
        folded_text: 'cut.mp4',
        description: 'The first cut.',
        mode: 'UPLOADED',
        status: 'UPLOADED',
        tag: 'NEED_REVIEW',
        mime_type: 'video/mp4',
        size: 52_311,
        sha256: '0'.repeat(64),
        storage_key: id,
        allow_restricted: 0,
        created_by: userId,
        created_at: at,
        updated_at: at,
      })
      .execute();
    for (let index = 0; index < VERSIONS; index++) {
      const version = { id: newUuid(), project_id: projectId, name: `Cut ${index}`, description: 'With new music.' };
      await insertVersion(trx, { ...version, allow_restricted: 0, created_at: now() });
    }
  });
  return id;
}
