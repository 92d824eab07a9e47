import { describe, expect, test } from 'vitest';
import { newUuid } from '../../db/ids.ts';
import { type House, onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import { ask, newProject, RECORD_TIME, ROLES, timeOf } from '../comments/test/talk.ts';
import { insertVersion } from './queries.ts';

interface Row {
  name: string;
  createdAt: string;
  allowRestricted: boolean;
}

/** Inserts versions with the given times into the database; returns their ids in the order of creation. */
async function addVersions(house: House, projectId: string, rows: Partial<Row>[]): Promise<string[]> {
  const ids = rows.map(() => newUuid());
  await house.deps.db.transaction().execute(async (trx) => {
    for (const [index, row] of rows.entries()) {
      const { name = `v${index}`, createdAt = timeOf(index), allowRestricted = false } = row;
      const fields = { name, allow_restricted: Number(allowRestricted), created_at: createdAt };
      await insertVersion(trx, { id: ids[index] ?? '', project_id: projectId, ...fields });
    }
  });
  return ids;
}

const many = (count: number): Partial<Row>[] => Array.from({ length: count }, () => ({}));

interface Asked {
  page?: string;
  'sort.type'?: string;
  'sort.direction'?: string;
}

onEachDatabase((house) => {
  const path = (projectId: string, query: Asked & Record<string, string> = {}) =>
    `/api/projects/${projectId}/versions?${new URLSearchParams(query)}`;
  const list = async (projectId: string, query: Asked = {}, as: PersonName = 'owner') => {
    const { status, body } = await ask(house(), as, 'GET', path(projectId, { ...query }));
    expect([status, body]).toEqual([200, { data: expect.any(Array), page: expect.any(Object) }]);
    return { ids: body.data.map(({ id }: { id: string }) => id), ...body };
  };

  describe('the answer', () => {
    test('has exactly the fields of the API reference', async () => {
      const projectId = await newProject(house());
      const { versions } = house().people.member.client;
      const body = { name: 'Rough cut', description: 'The first.', allowRestricted: true };
      const { id } = (await versions.create({ params: { id: projectId }, body })).data;
      const { ids: _, ...answer } = await list(projectId);
      expect(answer).toStrictEqual({
        data: [
          {
            id,
            name: 'Rough cut',
            description: 'The first.',
            status: 'NEED_REVIEW',
            createdAt: expect.stringMatching(RECORD_TIME),
            updatedAt: expect.stringMatching(RECORD_TIME),
            project: { id: projectId },
          },
        ],
        page: { current: 1, hasNext: false },
      });
    });

    test('has the versions of that project only', async () => {
      const [projectId, other] = [await newProject(house()), await newProject(house())];
      const ids = await addVersions(house(), projectId, many(1));
      await addVersions(house(), other, many(1));
      expect((await list(projectId)).ids).toEqual(ids);
    });
  });

  describe('order', () => {
    test('is newest first by default', async () => {
      const projectId = await newProject(house());
      const [a, b, c] = await addVersions(house(), projectId, [
        { createdAt: timeOf(2) },
        { createdAt: timeOf(3) },
        { createdAt: timeOf(1) },
      ]);
      const newestFirst = [b, a, c];
      expect((await list(projectId)).ids).toEqual(newestFirst);
      expect((await list(projectId, { 'sort.type': 'createdAt' })).ids).toEqual(newestFirst);
      expect((await list(projectId, { 'sort.direction': 'desc' })).ids).toEqual(newestFirst);
      expect((await list(projectId, { 'sort.direction': 'asc' })).ids).toEqual([c, a, b]);
    });

    test('by name ignores case, and is the same on both databases', async () => {
      const projectId = await newProject(house());
      const ordered = [
        '10',
        '9',
        '_',
        'a',
        'B',
        'c',
        'cut 10',
        'Cut 9',
        'e\u0301a',
        'z',
        '\u00C9b',
        '\u00DF',
        'Ж',
        '日',
      ];
      const shuffled = ordered.toSorted((a, b) => (a.length + a < b.length + b ? 1 : -1));
      await addVersions(
        house(),
        projectId,
        shuffled.map((name) => ({ name })),
      );
      const names = async (query: Asked) => {
        const { data } = await list(projectId, { 'sort.type': 'name', ...query });
        return data.map(({ name }: { name: string }) => name);
      };
      expect(await names({ 'sort.direction': 'asc' })).toEqual(
        // Folded names sort by code point: accented letters come after z, composed or not.
        ['10', '9', '_', 'a', 'B', 'c', 'cut 10', 'Cut 9', '\u00DF', 'z', 'e\u0301a', '\u00C9b', 'Ж', '日'],
      );
      expect(await names({})).toEqual((await names({ 'sort.direction': 'asc' })).toReversed());
      expect(await names({ 'sort.direction': 'desc' })).toEqual(await names({}));
    });

    test.each(['name', 'createdAt'])(
      'equal values of %s are ordered by id, in the requested direction',
      async (type) => {
        const projectId = await newProject(house());
        const same = { name: 'Same', createdAt: timeOf(0) };
        const ids = (
          await addVersions(
            house(),
            projectId,
            Array.from({ length: 60 }, () => same),
          )
        ).toSorted();
        const walk = async (direction: string) => {
          const query = { 'sort.type': type, 'sort.direction': direction };
          return [...(await list(projectId, query)).ids, ...(await list(projectId, { ...query, page: '2' })).ids];
        };
        expect(await walk('asc')).toEqual(ids);
        expect(await walk('desc')).toEqual(ids.toReversed());
      },
    );
  });

  describe('pages', () => {
    test.each([
      [0, [0]],
      [50, [50]],
      [51, [50, 1]],
      [100, [50, 50]],
      [101, [50, 50, 1]],
    ])('%d versions are pages of %j; hasNext is true on all but the last', async (count, sizes) => {
      const projectId = await newProject(house());
      const ids = (await addVersions(house(), projectId, many(count))).reverse();
      for (const [index, size] of sizes.entries()) {
        const answer = await list(projectId, { page: String(index + 1) });
        expect(answer.ids).toEqual(ids.slice(index * 50, index * 50 + size));
        expect(answer.page).toStrictEqual({ current: index + 1, hasNext: index + 1 < sizes.length });
      }
    });

    test.each(['2', '100'])('page %s, past the end, is empty', async (page) => {
      const projectId = await newProject(house());
      await addVersions(house(), projectId, many(3));
      const answer = await list(projectId, { page });
      expect([answer.data, answer.page]).toEqual([[], { current: Number(page), hasNext: false }]);
    });
  });

  describe('the query', () => {
    test.each(['0', '101', '-1', '1.5', 'abc', '', ' 1', '1e1', '0x1', '1000000000000000000000'])(
      'page %j is 400',
      async (page) => {
        const { status, body } = await ask(house(), 'owner', 'GET', path(house().projectId, { page }));
        expect([status, body.code, body.errors.map((error: { pointer: string }) => error.pointer)]).toEqual([
          400,
          'INVALID_REQUEST',
          ['#query/page'],
        ]);
      },
    );

    test.each([
      ['sort.type', 'updatedAt'],
      ['sort.type', ''],
      ['sort.type', 'NAME'],
      ['sort.direction', 'up'],
      ['sort.direction', ''],
      ['sort', 'name'],
      ['next', 'x'],
      ['limit', '10'],
    ])('%s=%s is 400', async (name, value) => {
      const { status, body } = await ask(house(), 'owner', 'GET', path(house().projectId, { [name]: value }));
      expect([status, body.errors.map((error: { pointer: string }) => error.pointer)]).toEqual([
        400,
        [`#query/${name}`],
      ]);
    });

    test('a parameter given twice is 400', async () => {
      const twice = `/api/projects/${house().projectId}/versions?page=1&page=2`;
      expect((await ask(house(), 'owner', 'GET', twice)).status).toBe(400);
    });
  });

  describe('permissions', () => {
    test('a restricted reviewer gets only versions with allowRestricted, and pages count only these', async () => {
      const projectId = await newProject(house());
      const rows = Array.from({ length: 101 }, (_, index) => ({ allowRestricted: index % 2 === 0 }));
      const ids = await addVersions(house(), projectId, rows);
      const marked = ids.filter((_, index) => index % 2 === 0).reverse();
      const first = await list(projectId, {}, 'restricted');
      expect([first.ids, first.page]).toEqual([marked.slice(0, 50), { current: 1, hasNext: true }]);
      const second = await list(projectId, { page: '2' }, 'restricted');
      expect([second.ids, second.page]).toEqual([marked.slice(50), { current: 2, hasNext: false }]);
    });

    test.each(ROLES.filter((role) => role !== 'restricted'))('the %s gets all', async (role) => {
      const projectId = await newProject(house());
      const ids = await addVersions(house(), projectId, [{ allowRestricted: true }, {}]);
      expect((await list(projectId, {}, role)).ids).toEqual(ids.reverse());
    });

    test('no scope is needed', async () => {
      const { client } = await house().withScopes('owner', []);
      await expect(client.versions.list({ params: { id: house().projectId } })).resolves.toHaveProperty('data');
    });

    test.each(['stranger', 'foreigner'] as const)('the project is 404 to a %s', async (person) => {
      const { versions } = house().people[person].client;
      await refusal(versions.list({ params: { id: house().projectId } }), 'NOT_FOUND');
    });
  });
});
