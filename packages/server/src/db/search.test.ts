import type { ProjectRole } from '@review/contract';
import { sql, type Updateable } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { insertFile, listFiles, updateFile } from '../rooms/files/queries.ts';
import { generate } from '../rooms/generation/test/generations.ts';
import { deleteDueProjects, insertProject, listProjects, updateProject } from '../rooms/projects/queries.ts';
import { type House, onEachDatabase, openHouse, postgresTest } from '../test/house.ts';
import { newcomer, newProject } from '../test/people.ts';
import { sentWhile } from '../test/sent-statements.ts';
import type { CursorPage, PageRequest } from './cursor.ts';
import { fold } from './fold.ts';
import { newId, newUuid } from './ids.ts';
import { migration } from './migrations/0011-search-index.ts';
import type { Schema, Writer } from './schema.ts';
import { now } from './time.ts';
import { inTransaction } from './transaction.ts';

/** More rows than a search reads in order before it uses the index. */
const BEYOND_FIRST_SLICE = 2100;

const OWNER: ProjectRole = 'PROJECT_OWNER';

type Texts = { name: string; description?: string };
type Row = { id: string };

const isIndexLookUp = (text: string) => /_search_(rows|terms)|search_trigrams/.test(text);

onEachDatabase((house) => {
  const db = () => house().deps.db;

  /** Adds files in order of their creation. */
  const addFiles = (projectId: string, all: Texts[]): Promise<string[]> =>
    inTransaction(db(), async (trx) => {
      const ids: string[] = [];
      for (const { name, description = null } of all) {
        const id = newId('FX');
        const createdBy = house().people.owner.userId;
        const fields = { mode: 'UPLOADED', status: 'UPLOADED', created_by: createdBy, created_at: now() } as const;
        await insertFile(trx, { id, project_id: projectId, folder_id: null, name, description, ...fields });
        if (description !== null)
          await updateFile(trx, id, { name, description, folder_id: null, allow_restricted: 0 }, now());
        ids.push(id);
      }
      return ids;
    });
  const addPadding = async (projectId: string) => {
    const [owner, at] = [house().people.owner.userId, now()];
    await sql`insert into files (id, project_id, name, folded_text, mode, status, tag, created_by, created_at, updated_at)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(BEYOND_FIRST_SLICE)})
      select 'FX' || ${newUuid()} || cast(i as text), ${projectId}, 'mmm', 'mmm', 'UPLOADED', 'UPLOADED', 'CLOSED', ${owner}, ${at}, ${at}
      from n`.execute(db());
  };

  const addProjects = async (userId: string) => {
    const [id, at] = [newUuid().slice(0, -4), now()];
    const numbers = sql`with recursive n(i) as (select 1000 union all select i + 1 from n where i < ${sql.lit(1000 + BEYOND_FIRST_SLICE)})`;
    await sql`insert into projects (id, workspace_id, name, folded_text, folded_name, created_at, updated_at) ${numbers}
      select ${id} || cast(i as text), ${house().workspaceId}, 'mmm', 'mmm', 'mmm', ${at}, ${at} from n`.execute(db());
    await sql`insert into project_members (id, project_id, user_id, role, created_at) ${numbers}
      select ${id} || cast(i as text), ${id} || cast(i as text), ${userId}, ${OWNER}, ${at} from n`.execute(db());
  };

  /** A project whose search needs the index. The given files are its oldest. */
  async function largeProject(files: Texts[]) {
    const projectId = await newProject(house().people.owner);
    const ids = await addFiles(projectId, files);
    await addPadding(projectId);
    return { projectId, ids };
  }

  /** The ids on all pages, in order, and how many look-ups in the index they took. */
  async function idsOf(read: (page: PageRequest) => Promise<CursorPage<Row>>) {
    const ids: string[] = [];
    const sent = await sentWhile(db(), async () => {
      for (let from: PageRequest['from'] = null, isFirst = true; isFirst || from !== null; isFirst = false) {
        const page = await read({ direction: 'desc', from });
        ids.push(...page.items.map(({ id }) => id));
        from = page.next;
      }
    });
    return { ids, lookUps: sent.filter((query) => isIndexLookUp(query.sql)).length };
  }
  const searchFiles = (projectId: string, keyword: string) =>
    idsOf((page) =>
      listFiles(db(), page, { projectId, keyword }, { restricted: false, atRoot: false, sort: 'createdAt' }),
    );

  describe('files', () => {
    test('random keywords find the same files as a comparison with each of them', async () => {
      const names = Array.from({ length: 400 }, () => ({ name: randomText(14), description: randomText(5) }));
      const { projectId, ids } = await largeProject(names);
      const texts = names.map(({ name, description }) => fold(`${name}\n${description}`));
      let lookUps = 0;
      for (let run = 0; run < 60; run++) {
        const keyword = run % 2 === 0 ? randomText(4) : randomPart(names[random(names.length)]?.name ?? '');
        const found = await searchFiles(projectId, keyword);
        const expected = ids.filter((_, index) => texts[index]?.includes(fold(keyword)));
        expect(found.ids, JSON.stringify(keyword)).toEqual(expected.toReversed());
        lookUps += found.lookUps;
      }
      expect(lookUps).toBeGreaterThan(0);
    });

    describe('in a large project', () => {
      const cases = [
        ['a word', 'Outtakes of the LAMP film', 'lamp'],
        ['the end of a name', 'a storyboard', 'board'],
        ['one CJK character', '最終版の映画', '映'],
        ['one CJK character at the end', '最終版', '版'],
        ['two CJK characters', '最終版の映画', '終版'],
        ['two CJK characters at the end', '最終版の映画', '映画'],
        ['three CJK characters', '最終版の映画', '版の映'],
        ['an emoji', 'cut 🎬 one', '🎬'],
        ['an emoji with a skin tone', 'ok 👍🏽', '👍🏽'],
        ['an emoji of several', 'the 👩‍👩‍👧 film', '👩‍👩‍👧'],
        ['another case', 'ÄRGER', 'ärger'],
        ['quotes', `say "it's"`, `"it's"`],
        ['operators', 'a AND (b | c) & !d:*', ') & !d:*'],
        ['patterns', '100%_\\', '%_\\'],
        ['100 characters', `${'x'.repeat(99)}y`, `${'x'.repeat(99)}y`],
      ];
      const names = [...new Set(cases.map(([, name = '']) => name))];
      let large: Awaited<ReturnType<typeof largeProject>>;
      beforeAll(async () => {
        large = await largeProject(names.map((name) => ({ name })));
      });

      test.each(cases)('the index finds %s', async (_, name, keyword) => {
        const { projectId, ids } = large;
        const matches = ids.filter((_, index) => fold(names[index] ?? '').includes(fold(keyword)));
        expect(matches).toContain(ids[names.indexOf(name)]);
        expect(await searchFiles(projectId, keyword)).toEqual({ ids: matches.toReversed(), lookUps: 1 });
        expect((await searchFiles(projectId, `${keyword}q`)).ids).toEqual([]);
      });
    });

    test('a keyword with many matches, all of them old, is found page by page', async () => {
      const { projectId, ids } = await largeProject(Array.from({ length: 1100 }, () => ({ name: 'skewed' })));
      expect((await searchFiles(projectId, 'skewed')).ids).toEqual(ids.toReversed());
    });

    test('a keyword in a few new files and old ones is found in all of them, by one look-up', async () => {
      const { projectId, ids } = await largeProject([{ name: 'a lamp' }, { name: 'another lamp' }]);
      const newer = await addFiles(projectId, [{ name: 'the last lamp' }]);
      expect(await searchFiles(projectId, 'lamp')).toEqual({ ids: [...newer, ...ids.toReversed()], lookUps: 1 });
    });

    test('a changed, renamed or deleted file is found as it is now', async () => {
      const { projectId, ids } = await largeProject([{ name: 'first' }, { name: 'second' }]);
      const [first = '', second = ''] = ids;
      const found = async (keyword: string) => (await searchFiles(projectId, keyword)).ids;
      const { client } = house().people.owner;
      await client.files.update({ params: { id: first }, body: { name: 'renamed', description: 'formerly second' } });
      expect([await found('first'), await found('renamed'), await found('second')]).toEqual([
        [],
        [first],
        [second, first],
      ]);
      const { data: folder } = await client.folders.create({ params: { id: projectId }, body: { name: 'A' } });
      await client.files.update({ params: { id: first }, body: { folder: { id: folder.id } } });
      expect(await found('renamed')).toEqual([first]);
      await client.files.delete({ params: { id: second } });
      expect(await found('second')).toEqual([first]);
    });

    test('a transaction that is rolled back leaves no trace in the index', async () => {
      const { projectId, ids } = await largeProject([{ name: 'kept one' }, { name: 'kept two' }]);
      const [one = '', two = ''] = ids;
      const fields = { description: null, folder_id: null, allow_restricted: 0 };
      const failed = inTransaction(db(), async (trx) => {
        await updateFile(trx, one, { ...fields, name: 'lost' }, now());
        await trx.deleteFrom('files').where('id', '=', two).execute();
        throw new Error('rolled back');
      });
      const neighbour = inTransaction(db(), (trx) => updateFile(trx, two, { ...fields, name: 'kept too' }, now()));
      await expect(failed).rejects.toThrow('rolled back');
      await neighbour;
      expect((await searchFiles(projectId, 'lost')).ids).toEqual([]);
      expect((await searchFiles(projectId, 'kept')).ids).toEqual([two, one]);
      expect((await searchFiles(projectId, 'too')).ids).toEqual([two]);
    });
  });

  describe('projects', () => {
    test('a search finds own projects only, in each order, also after a change and a deletion', async () => {
      const { userId, workspaceId } = await newcomer(house());
      const foreigner = await newcomer(house());
      const add = async (trx: Writer, member: string, name: string, description: string | null) => {
        const [id, at] = [newUuid(), now()];
        const project = { name, description, deadline: null, created_at: at, deletes_at: null };
        await insertProject(trx, { id, workspace_id: workspaceId, ...project });
        const membership = { id: newUuid(), project_id: id, user_id: member, role: OWNER, created_at: at };
        await trx.insertInto('project_members').values(membership).execute();
        return id;
      };
      const [second = '', first = ''] = await inTransaction(db(), async (trx) => {
        const ids = [await add(trx, userId, 'Zebra', 'a lamp'), await add(trx, userId, 'Lamp', null)];
        await add(trx, foreigner.userId, 'Lamp', null);
        return ids;
      });
      await addProjects(userId);
      const search = async (keyword: string, sort: 'name' | 'createdAt' | 'updatedAt') =>
        await idsOf((page) => listProjects(db(), page, { userId, workspaceId, keyword }, { sort }));
      expect((await search('lamp', 'name')).ids).toEqual([second, first]);
      expect(await search('lamp', 'createdAt')).toEqual({ ids: [first, second], lookUps: 1 });
      expect((await search('lamp', 'updatedAt')).ids).toEqual([first, second]);
      await inTransaction(db(), (trx) => updateProject(trx, first, { name: '灯' }, now()));
      expect((await search('lamp', 'createdAt')).ids).toEqual([second]);
      expect((await search('灯', 'createdAt')).ids).toEqual([first]);
      await db().updateTable('projects').set({ deletes_at: now() }).where('id', '=', first).execute();
      await deleteDueProjects(db(), now());
      expect((await search('灯', 'createdAt')).ids).toEqual([]);
    });
  });

  test('the migration indexes the rows that exist', async () => {
    const { projectId, ids } = await largeProject([{ name: '最終版' }]);
    await dropIndex(house());
    await db()
      .updateTable('files')
      .set({ folded_text: fold('映画\n') })
      .where('id', '=', ids[0] ?? '')
      .execute();
    await migration(house().dialect).up(db());
    expect(await searchFiles(projectId, '映')).toEqual({ ids, lookUps: 1 });
  });

  test('the index is complete', async () => {
    const first = async (query: ReturnType<typeof sql<{ value: unknown }>>) =>
      (await query.execute(db())).rows[0]?.value;
    for (const name of ['files', 'projects']) {
      const search = sql.table(`${name}_search`);
      if (house().dialect === 'postgres') {
        const isValid = sql<{ value: unknown }>`select indisvalid as value from pg_index
          where indexrelid = to_regclass(${`${name}_search`})`;
        expect(await first(isValid)).toBe(true);
      } else {
        const countOf = (table: string) => first(sql`select count(*) as value from ${sql.table(table)}`);
        const rows = await countOf(name);
        expect([await countOf(`${name}_search_rows`), await countOf(`${name}_search_docsize`)]).toEqual([rows, rows]);
        await sql`insert into ${search} (${search}) values ('integrity-check')`.execute(db());
      }
    }
  });
});

postgresTest('the trigrams of a prompt are computed when its generation ends, not before', async () => {
  await using house = await openHouse('postgres');
  const id = await generate(house, { prompt: 'A capybara' });
  const change = (changes: Updateable<Schema['generations']>) =>
    house.deps.db.updateTable('generations').set(changes).where('file_id', '=', id).execute();
  await sql`create or replace function search_trigrams(folded text) returns tsvector
    language plpgsql immutable strict as $$ begin raise exception 'computed'; end $$`.execute(house.deps.db);
  await change({ status: 'RUNNING', lease_owner: 'box:1' });
  await expect(change({ status: 'SUCCEEDED' })).rejects.toThrow('computed');
});

/** Takes the database back to the schema before the index. */
async function dropIndex({ deps: { db }, dialect }: House): Promise<void> {
  if (dialect === 'postgres') await sql`drop function search_trigrams cascade`.execute(db);
  else {
    for (const table of ['projects', 'files']) {
      for (const event of ['insert', 'update', 'delete']) {
        await sql`drop trigger ${sql.id(`${table}_search_${event}`)}`.execute(db);
      }
      for (const suffix of ['_search_terms', '_search', '_search_rows']) {
        await sql`drop table ${sql.table(table + suffix)}`.execute(db);
      }
    }
  }
}

/** Letters of one to four bytes, letters that match others, and characters with a meaning in patterns and queries. */
const LETTERS = [...`aAbBäÄßİσΣς한中文字映画🎬👍🏽 _%\\"'*:&|!().\n\u0001`, 'e\u0301', '\u200d'];
const random = (count: number) => Math.floor(Math.random() * count);
/** The letters at the start of the list are frequent, those at its end rare. */
const randomLetter = () => LETTERS[Math.floor(Math.random() ** 2 * LETTERS.length)];
const randomText = (maxLength: number) => Array.from({ length: 1 + random(maxLength) }, randomLetter).join('');
const randomPart = (text: string) => {
  const letters = [...text];
  const start = random(letters.length);
  return letters.slice(start, start + 1 + random(5)).join('');
};
