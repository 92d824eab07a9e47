import { FILE_STATUSES } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { newId } from '../../db/ids.ts';
import { now } from '../../db/time.ts';
import { type House, onEachDatabase, refusal } from '../../test/house.ts';
import { newFolder, newProject } from '../uploads/test/uploads.ts';
import { insertFile } from './queries.ts';

type Search = House['people']['owner']['client']['files']['list'];
type Filters = Parameters<Search>[0]['body'];

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const search = (id: string, body: Filters = {}) => client().files.list({ params: { id }, body });
  const namesOf = async (id: string, body: Filters) => (await search(id, body)).data.map((file) => file.name);

  /** Inserts rows only: a search needs no content. */
  async function fill(projectId: string, names: string[], folderId: string | null = null): Promise<string[]> {
    const createdBy = house().people.owner.userId;
    return house()
      .deps.db.transaction()
      .execute(async (trx) => {
        const ids: string[] = [];
        for (const name of names) {
          const id = newId('FX');
          await insertFile(trx, {
            id,
            project_id: projectId,
            folder_id: folderId,
            name,
            mode: 'UPLOADED',
            status: 'UPLOADING',
            created_by: createdBy,
            created_at: now(),
          });
          ids.push(id);
        }
        return ids;
      });
  }

  async function projectWith(...names: string[]) {
    const projectId = await newProject(house());
    return { projectId, ids: await fill(projectId, names) };
  }

  describe('keyword', () => {
    test.each([
      ['what no name has', 'utaw', [], ['Outtakes.mp4']],
      ['part of the name, in the middle', 'take', ['Outtakes.mp4', 'Take 1.mp4'], ['Cut.mp4']],
      ['in any case', 'OUTTAKES', ['outTAKES.mp4'], ['Cut.mp4']],
      ['beyond ASCII', 'ÄNDERUNG', ['änderung.pdf'], ['anderung.pdf']],
      ['however it is composed', 'a\u0308nderung', ['\u00c4nderung.pdf'], ['anderung.pdf']],
      ['Greek and Cyrillic', 'ПЛАН', ['план.pdf'], ['plan.pdf']],
      ['a percent sign is itself', '100%', ['100%.pdf'], ['1000.pdf']],
      ['an underscore is itself', 'a_b', ['a_b.pdf'], ['axb.pdf']],
      ['an asterisk is itself', 'a*b', ['a*b.pdf'], ['axb.pdf']],
      ['a quote is itself', "o'clock", ["five o'clock.pdf"], ['oclock.pdf']],
    ])('%s', async (_, keyword, found, others) => {
      const { projectId } = await projectWith(...others, ...found);
      expect(await namesOf(projectId, { keyword })).toEqual([...found].reverse());
    });

    test('matches the description too, also after a change', async () => {
      const { projectId, ids } = await projectWith('a.pdf', 'b.pdf');
      const params = { id: ids[0] ?? '' };
      await client().files.update({ params, body: { description: 'The Final_Cut \\ approved' } });
      expect(await namesOf(projectId, { keyword: 'final_cut \\' })).toEqual(['a.pdf']);
      await client().files.update({ params, body: { description: null } });
      expect(await namesOf(projectId, { keyword: 'final' })).toEqual([]);
      await client().files.update({ params, body: { name: 'Final.pdf' } });
      expect(await namesOf(projectId, { keyword: 'final' })).toEqual(['Final.pdf']);
    });

    test('has 1 to 100 characters', async () => {
      const { projectId } = await projectWith();
      await search(projectId, { keyword: '\u{1F3AC}'.repeat(100) });
      for (const keyword of ['', 'a'.repeat(101)]) await refusal(search(projectId, { keyword }), 'INVALID_REQUEST');
    });
  });

  describe('filters', () => {
    test('folder: null is the root, an object is that folder, a missing one is all', async () => {
      const { projectId } = await projectWith('root');
      const folderId = await newFolder(house(), projectId);
      await fill(projectId, ['inside'], folderId);
      expect(await namesOf(projectId, { folder: null })).toEqual(['root']);
      expect(await namesOf(projectId, { folder: { id: folderId } })).toEqual(['inside']);
      expect(await namesOf(projectId, {})).toEqual(['inside', 'root']);
    });

    test('a folder of another project is 422', async () => {
      const foreign = await newFolder(house(), await newProject(house()));
      const { projectId } = await projectWith();
      const problem = await refusal(search(projectId, { folder: { id: foreign } }), 'REFERENCE_NOT_FOUND');
      expect(problem.errors).toMatchObject([{ pointer: '/folder/id' }]);
    });

    test('status', async () => {
      const { projectId, ids } = await projectWith(...FILE_STATUSES);
      for (const [index, status] of FILE_STATUSES.entries()) {
        const files = house().deps.db.updateTable('files').set({ status });
        await files.where('id', '=', ids[index] ?? '').execute();
      }
      for (const status of FILE_STATUSES) expect(await namesOf(projectId, { status })).toEqual([status]);
    });

    test('tag', async () => {
      const { projectId, ids } = await projectWith('a', 'b');
      await client().files.setTag({ params: { id: ids[0] ?? '' }, body: { tag: 'ON_HOLD' } });
      expect(await namesOf(projectId, { tag: 'ON_HOLD' })).toEqual(['a']);
      expect(await namesOf(projectId, { tag: 'NEED_REVIEW' })).toEqual(['b']);
    });

    test('outputType finds generated files of that type, never a plain upload', async () => {
      const { projectId, ids } = await projectWith('plain', 'video');
      const files = house().deps.db.updateTable('files').set({ output_type: 'VIDEO' });
      await files.where('id', '=', ids[1] ?? '').execute();
      expect(await namesOf(projectId, { outputType: 'VIDEO' })).toEqual(['video']);
      expect(await namesOf(projectId, { outputType: 'IMAGE' })).toEqual([]);
    });

    test('all together', async () => {
      const { projectId, ids } = await projectWith('cut one', 'cut two', 'other');
      await client().files.setTag({ params: { id: ids[1] ?? '' }, body: { tag: 'CLOSED' } });
      const filters = { keyword: 'cut', folder: null, status: 'UPLOADING', tag: 'CLOSED' } as const;
      expect(await namesOf(projectId, filters)).toEqual(['cut two']);
    });

    test.each([
      ['an unknown filter', { name: 'a' }],
      ['an unknown status', { status: 'DONE' }],
      ['an unknown tag', { tag: 'DONE' }],
      ['an unknown outputType', { outputType: 'AUDIO' }],
      ['a folder without an id', { folder: {} }],
    ])('%s is 400', async (_, body) => {
      const response = await house().request('owner', 'QUERY', `/api/projects/${house().projectId}/files`, {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
      expect(response.status).toBe(400);
    });
  });

  describe('cursors', () => {
    test('120 files are three pages, newest first, forward and back', async () => {
      const projectId = await newProject(house());
      const newest = (await fill(projectId, Array(120).fill('a'))).reverse();
      const pages = [newest.slice(0, 50), newest.slice(50, 100), newest.slice(100)];
      const first = await search(projectId);
      const second = await search(projectId, { next: first.page.next ?? '' });
      const third = await search(projectId, { next: second.page.next ?? '' });
      expect([first, second, third].map(({ data }) => data.map(({ id }) => id))).toEqual(pages);
      expect([first.page.prev, third.page.next]).toEqual([null, null]);
      const back = await search(projectId, { prev: third.page.prev ?? '' });
      const start = await search(projectId, { prev: back.page.prev ?? '' });
      expect([start, back].map(({ data }) => data.map(({ id }) => id))).toEqual(pages.slice(0, 2));
      expect(start.page.prev).toBeNull();
    });

    test('a page is not shifted by files that are added or deleted meanwhile', async () => {
      const projectId = await newProject(house());
      const newest = (await fill(projectId, Array(60).fill('a'))).reverse();
      const first = await search(projectId);
      await fill(projectId, ['newer']);
      await client().files.delete({ params: { id: newest[49] ?? '' } });
      const second = await search(projectId, { next: first.page.next ?? '' });
      expect(second.data.map(({ id }) => id)).toEqual(newest.slice(50));
    });

    test('a cursor that is altered, or of other filters, another project or direction, is 400', async () => {
      const projectId = await newProject(house());
      await fill(projectId, Array(51).fill('a'));
      const next = (await search(projectId)).page.next ?? '';
      const flipped = (next.startsWith('A') ? 'B' : 'A') + next.slice(1);
      const refused: [string, Filters][] = [
        [projectId, { next: flipped }],
        [projectId, { next: `${next}=` }],
        [projectId, { next: next.slice(0, -1) }],
        [projectId, { next: 'x' }],
        [projectId, { prev: next }],
        [projectId, { next, keyword: 'a' }],
        [projectId, { next, folder: null }],
        [projectId, { next, status: 'UPLOADING' }],
        [projectId, { next, tag: 'NEED_REVIEW' }],
        [projectId, { next, outputType: 'VIDEO' }],
        [await newProject(house()), { next }],
      ];
      for (const [project, body] of refused) await refusal(search(project, body), 'INVALID_CURSOR');
      await refusal(search(projectId, { next, prev: next }), 'INVALID_REQUEST');
      expect((await search(projectId, { next })).data).toHaveLength(1);
    });
  });
});
