import { SCOPES, type SearchResult, type SearchType } from '@review/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Bodies, testAccess } from '../../test/access.ts';
import { json, onEachDatabase, type Person, type PersonName, refusal } from '../../test/house.ts';
import { newcomer, newProject } from '../../test/people.ts';
import { fail, finish, generate, held, NO_LIMITS, storeResult } from '../generation/test/generations.ts';
import { upload } from '../uploads/test/uploads.ts';

/** Method and path, scopes, roles, tier, tool and success; not taken from the contract. */
const ACCESS = `
  QUERY /api/search | projects:read files:read comments:read workspace-members:read project-members:read skills:read | - | 4 | - | 200`;

const BODIES: Bodies = {
  'QUERY /api/search': () => ({ keyword: 'a' }),
  'GET /api/search': () => '?keyword=a',
};

onEachDatabase((house) => {
  testAccess(house, 'search', ACCESS, BODIES);

  const find = async (person: Person, keyword: string, own: { types?: SearchType[]; project?: { id: string } } = {}) =>
    (await person.client.search.find({ body: { keyword, ...own } })).data;
  const people = () => house().people;
  const shown = (results: SearchResult[]) => results.map(({ type, title }) => `${type} ${title}`);

  describe('what each role finds', () => {
    let projectId = '';
    beforeAll(async () => {
      const { owner, manager, member, reviewer, restricted } = people();
      projectId = await newProject(
        owner,
        [
          [manager, 'PROJECT_MANAGER'],
          [member, 'PROJECT_MEMBER'],
          [reviewer, 'PROJECT_REVIEWER'],
          [restricted, 'PROJECT_RESTRICTED_REVIEWER'],
        ],
        'Zanzibar film',
      );
      const add = async (name: string, allowRestricted: boolean) => {
        const id = await upload(owner.client, 'FX', projectId, undefined, { name });
        await owner.client.files.update({ params: { id }, body: { allowRestricted } });
        await owner.client.comments.createOnFile({ params: { id }, body: { content: `About ${name}` } });
        return id;
      };
      await add('zanzibar hidden.mp4', false);
      await add('zanzibar open.mp4', true);
      const trashed = await add('zanzibar trashed.mp4', true);
      await owner.client.files.delete({ params: { id: trashed } });
      const generated = await generate(house(), { prompt: 'Boats of Zanzibar' }, projectId);
      const body = { name: 'generated.md', allowRestricted: true };
      await owner.client.files.update({ params: { id: generated }, body });
      await owner.client.comments.create({ params: { id: projectId }, body: { content: 'Zanzibar is late' } });
      const gone = await owner.client.comments.create({
        params: { id: projectId },
        body: { content: 'Zanzibar gone' },
      });
      await owner.client.comments.delete({ params: { id: gone.data.id } });
      await owner.client.skills.create({ body: { name: 'Zanzibar grading', description: 'How' } });
    });

    const EVERYTHING = [
      'COMMENT Owner: About zanzibar hidden.mp4',
      'COMMENT Owner: About zanzibar open.mp4',
      'COMMENT Owner: Zanzibar is late',
      'FILE generated.md: Boats of Zanzibar',
      'FILE zanzibar hidden.mp4',
      'FILE zanzibar open.mp4',
      'PROJECT Zanzibar film',
      'SKILL Zanzibar grading',
    ];
    const RESTRICTED = EVERYTHING.filter((line) => !/hidden|generated/.test(line));
    const WORKSPACE = ['SKILL Zanzibar grading'];

    test.each<[PersonName, string[]]>([
      ['owner', EVERYTHING],
      ['manager', EVERYTHING],
      ['member', EVERYTHING],
      ['reviewer', EVERYTHING],
      ['restricted', RESTRICTED],
      ['stranger', WORKSPACE],
      ['foreigner', []],
    ])('the %s', async (name, expected) => {
      const results = await find(people()[name], 'zanzibar');
      const line = ({ type, title, excerpt }: SearchResult) =>
        `${type} ${type === 'COMMENT' ? 'Owner' : title}${excerpt === null ? '' : `: ${excerpt}`}`;
      expect(results.map(line).sort()).toEqual(expected);
    });

    test('a type without its scope has no results', async () => {
      const typesOf = async (...scopes: (typeof SCOPES)[number][]) => {
        const person = await house().withScopes('owner', scopes);
        return [...new Set((await find(person, 'zanzibar')).map(({ type }) => type))].sort();
      };
      expect(await typesOf('projects:read')).toEqual(['PROJECT']);
      expect(await typesOf('files:read')).toEqual(['FILE']);
      expect(await typesOf('comments:read')).toEqual(['COMMENT']);
      expect(await typesOf('skills:read', 'comments:read')).toEqual(['COMMENT', 'SKILL']);
      expect(await typesOf('project-members:read')).toEqual([]);
    });

    test('by type and project', async () => {
      const { owner } = people();
      expect(shown(await find(owner, 'zanzibar', { types: ['PROJECT', 'SKILL'] })).sort()).toEqual([
        'PROJECT Zanzibar film',
        'SKILL Zanzibar grading',
      ]);
      const within = await find(owner, 'zanzibar', { project: { id: projectId } });
      expect(new Set(within.map(({ project }) => project?.id))).toEqual(new Set([projectId]));
      expect(within).toHaveLength(EVERYTHING.length - 1);
      expect(await find(owner, 'zanzibar', { project: { id: await newProject(owner) } })).toEqual([]);
      await refusal(find(people().stranger, 'zanzibar', { project: { id: projectId } }), 'REFERENCE_NOT_FOUND');
    });

    test('a person who has left finds nothing of the project', async () => {
      const person = await newcomer(house());
      const { owner } = people();
      const members = [{ user: { id: person.userId }, role: 'PROJECT_REVIEWER' as const }];
      const [added] = (await owner.client.members.add({ params: { id: projectId }, body: { members } })).data;
      expect(await find(person, 'zanzibar', { types: ['FILE'] })).not.toEqual([]);
      await owner.client.members.remove({ params: { id: added?.id ?? '' } });
      expect(await find(person, 'zanzibar', { types: ['FILE', 'COMMENT', 'PROJECT'] })).toEqual([]);
    });

    test('an edited comment is found by its new text only', async () => {
      const { owner } = people();
      const { data } = await owner.client.comments.create({ params: { id: projectId }, body: { content: 'Quokka' } });
      await owner.client.comments.update({ params: data, body: { content: 'Wombat' } });
      expect(await find(owner, 'quokka')).toEqual([]);
      expect((await find(owner, 'wombat')).map(({ id }) => id)).toEqual([data.id]);
    });
  });

  test('a prompt is found whether its generation waits, runs, has succeeded or has failed', async () => {
    const { owner } = people();
    const prompt = 'Capybara at dawn';
    const [running, succeeded, failed] = [
      await held(house(), { prompt }),
      await held(house(), { prompt }),
      await held(house(), { prompt }),
    ];
    await storeResult(house(), succeeded);
    await finish(house(), succeeded);
    await fail(house(), failed);
    const ids = [running.id, succeeded.id, failed.id, await generate(house(), { prompt })];
    expect((await find(owner, 'bara at')).map(({ id }) => id).sort()).toEqual(ids.toSorted());
    expect(await find(owner, 'bara by')).toEqual([]);
  });

  test('people by name and address; without the workspace scope only fellows', async () => {
    const { owner } = people();
    const [fellow, other] = [
      await newcomer(house(), { name: 'Ximena Fellow' }),
      await newcomer(house(), { name: 'Ximena Other' }),
    ];
    const project = await newProject(owner, [[fellow, 'PROJECT_MEMBER']]);
    const names = async (person: Person, keyword: string, own = {}) =>
      (await find(person, keyword, { types: ['PERSON'], ...own })).map(({ title }) => title).sort();
    expect(await names(owner, 'ximena')).toEqual(['Ximena Fellow', 'Ximena Other']);
    expect(await names(owner, other.email)).toEqual(['Ximena Other']);
    expect(await names(owner, 'ximena', { project: { id: project } })).toEqual(['Ximena Fellow']);
    const without = await house().withScopes(
      'owner',
      SCOPES.filter((scope) => scope !== 'workspace-members:read'),
    );
    expect(await names(without, 'ximena')).toEqual(['Ximena Fellow']);
  });

  test('best first: the name itself, its start, a word in it, within it, then texts; each newest first', async () => {
    const { owner } = people();
    const add = (name: string, description?: string) =>
      owner.client.projects.create({ body: { name, ...(description !== undefined && { description }) } });
    await add('Another', 'The yakima river');
    for (const name of ['xyakimax', 'To Yakima', 'Yakima two', 'Yakima', 'Yakima three']) await add(name);
    expect(shown(await find(owner, 'YAKIMA'))).toEqual([
      'PROJECT Yakima',
      'PROJECT Yakima three',
      'PROJECT Yakima two',
      'PROJECT To Yakima',
      'PROJECT xyakimax',
      'PROJECT Another',
    ]);
  });

  test.each(['東', '東京', '🎬', '%', '_', '\\', "'", '"', 'ß', 'STRASSE'])(
    '%s is found like any text',
    async (keyword) => {
      const { owner } = people();
      const name = `${keyword} qq ${keyword.toLowerCase()}`;
      const { data } = await owner.client.projects.create({ body: { name } });
      const found = await find(owner, keyword, { types: ['PROJECT'] });
      expect(found.map(({ id }) => id)).toContain(data.id);
      const all = await owner.client.projects.list({ body: { keyword } });
      expect(found.map(({ id }) => id).sort()).toEqual(all.data.map(({ id }) => id).sort());
    },
  );

  test('pages by key, to and fro, the same by GET', async () => {
    const person = await newcomer(house());
    const project = await newProject(person, [], 'Paged');
    for (let index = 0; index < 120; index++)
      await person.client.comments.create({ params: { id: project }, body: { content: `Uluru ${index}` } });
    const page = (cursor: { next?: string; prev?: string } = {}) =>
      person.client.search.find({ body: { keyword: 'uluru', ...cursor } });
    const first = await page();
    const second = await page({ next: first.page.next ?? '' });
    const third = await page({ next: second.page.next ?? '' });
    const all = [first, second, third].flatMap(({ data }) => data);
    expect([all.length, new Set(all.map(({ id }) => id)).size, third.page.next]).toEqual([120, 120, null]);
    expect(all.map(({ excerpt }) => excerpt)).toEqual(
      Array.from({ length: 120 }, (_, index) => `Uluru ${119 - index}`),
    );
    expect((await page({ prev: third.page.prev ?? '' })).data).toEqual(second.data);
    const headers = { authorization: `Bearer ${person.key}` };
    const byGet = await fetch(`${house().url}/api/search?keyword=uluru&types=COMMENT,FILE`, { headers });
    expect(await byGet.json()).toMatchObject({ data: first.data });
    const other = await fetch(`${house().url}/api/search`, {
      method: 'QUERY',
      ...json({ keyword: 'other', next: first.page.next }, headers),
    });
    expect(other.status).toBe(400);
  });

  test('a keyword that is too frequent for the index finds the newest of the caller', async () => {
    const person = await newcomer(house());
    const project = await newProject(person, [], 'Frequent');
    const rows = Array.from({ length: 1100 }, (_, index) => ({
      id: `00000000-0000-4000-9000-${String(index).padStart(12, '0')}`,
      project_id: project,
      author_id: person.userId,
      content: `Kookaburra ${index}`,
      folded_text: `kookaburra ${index}`,
      created_at: `2026-11-16 09:30:00.${String(index).padStart(6, '0')}`,
      updated_at: '2026-11-16 09:30:00.000000',
    }));
    for (let start = 0; start < rows.length; start += 500)
      await house()
        .deps.db.insertInto('comments')
        .values(rows.slice(start, start + 500))
        .execute();
    const results = await find(person, 'kookaburra');
    expect(results[0]?.excerpt).toBe('Kookaburra 1099');
    expect(results).toHaveLength(50);
    expect(await find(people().stranger, 'kookaburra')).toEqual([]);
  });
}, NO_LIMITS);
