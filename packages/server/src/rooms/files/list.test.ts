import { items } from '@review/client';
import { cursorPage } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type House, onEachDatabase, refusal } from '../../test/house.ts';
import { newFolder, newProject, start, uploadFile } from '../uploads/test/uploads.ts';

const Listed = cursorPage(z.object({ id: z.string() }));

const clientOf = (house: House) => house.people.owner.client;

async function fileIn(house: House, projectId: string, folderId: string | null, name = 'a.bin'): Promise<string> {
  const folder = folderId === null ? null : { id: folderId };
  const body = { name, size: 1, folder };
  return (await clientOf(house).files.startUpload({ params: { id: projectId }, body })).data.id;
}

onEachDatabase((house) => {
  describe('list', () => {
    const byGet = async (id: string, query = '') => {
      const response = await house().request('owner', 'GET', `/api/projects/${id}/files${query}`);
      return { status: response.status, body: await response.json() };
    };
    const idsByGet = async (id: string, query?: string) =>
      Listed.parse((await byGet(id, query)).body).data.map((file) => file.id);

    test('every file, newest first, in folders or not, page by page', async () => {
      const projectId = await newProject(house());
      const folderId = await newFolder(house(), projectId);
      const ids: string[] = [];
      for (let made = 0; made < 60; made++) ids.push(await fileIn(house(), projectId, made % 2 ? folderId : null));
      ids.reverse();
      const first = Listed.parse((await byGet(projectId)).body);
      const second = await idsByGet(projectId, `?next=${first.page.next}`);
      expect([first.data.map((file) => file.id), second]).toEqual([ids.slice(0, 50), ids.slice(50)]);
      const all: string[] = [];
      for await (const { id } of items(clientOf(house()).files.list, { params: { id: projectId } })) all.push(id);
      expect(all).toEqual(ids);
    });

    test('by name, ignoring case, in either direction and page by page', async () => {
      const projectId = await newProject(house());
      const names = ['zeta', 'Ärger', 'beta 2', 'alpha', 'Beta 1', 'beta 2'];
      const many = Array.from({ length: 50 }, (_, number) => `take ${String(number).padStart(2, '0')}`);
      const ids = new Map<string, string>();
      for (const name of [...names, ...many]) ids.set(await fileIn(house(), projectId, null, name), name);
      const inOrder = async (direction: 'asc' | 'desc') => {
        const listed: string[] = [];
        const body = { sort: { type: 'name', direction } } as const;
        for await (const { id } of items(clientOf(house()).files.list, { params: { id: projectId }, body }))
          listed.push(id);
        return listed;
      };
      const ascending = await inOrder('asc');
      expect(ascending.map((id) => ids.get(id))).toEqual([
        'alpha',
        'Beta 1',
        'beta 2',
        'beta 2',
        ...many,
        'zeta',
        'Ärger',
      ]);
      expect(await inOrder('desc')).toEqual(ascending.toReversed());
      expect(await idsByGet(projectId, '?sort.type=name&sort.direction=asc')).toEqual(ascending.slice(0, 50));
      expect(await idsByGet(projectId, '?sort.type=name&sort.direction=asc&keyword=BETA')).toEqual(
        ascending.slice(1, 4),
      );
      expect(await idsByGet(projectId, '?sort.direction=asc')).toEqual([...ids.keys()].slice(0, 50));
    });

    test('a renamed file moves to its new place, whatever its description is', async () => {
      const projectId = await newProject(house());
      const [a, b] = [await fileIn(house(), projectId, null, 'a'), await fileIn(house(), projectId, null, 'b')];
      const { files } = clientOf(house());
      await files.update({ params: { id: a }, body: { name: 'c', description: 'a' } });
      await files.update({ params: { id: b }, body: { description: 'z\ny' } });
      expect(await idsByGet(projectId, '?sort.type=name&sort.direction=asc')).toEqual([b, a]);
    });

    test('a cursor of another order is 400', async () => {
      const projectId = await newProject(house());
      for (let made = 0; made < 51; made++) await fileIn(house(), projectId, null);
      const { next } = Listed.parse((await byGet(projectId)).body).page;
      expect(await byGet(projectId, `?sort.type=name&next=${next}`)).toMatchObject({ status: 400 });
      expect(await byGet(projectId, '?sort.type=size')).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '#query/sort.type' }] },
      });
    });

    test('the records are those of Get File', async () => {
      const projectId = await newProject(house());
      const { id } = await start(clientOf(house()), 'FX', projectId);
      const { renditions: _, ...one } = (await clientOf(house()).files.get({ params: { id } })).data;
      expect((await byGet(projectId)).body).toMatchObject({ data: [one] });
    });

    test('of one folder: its direct files; an empty value is the root', async () => {
      const projectId = await newProject(house());
      const folderId = await newFolder(house(), projectId);
      const inner = await clientOf(house()).folders.create({
        params: { id: projectId },
        body: { name: 'Inner', parent: { id: folderId } },
      });
      const id = await fileIn(house(), projectId, folderId);
      const atRoot = await fileIn(house(), projectId, null);
      await fileIn(house(), projectId, inner.data.id);
      expect(await idsByGet(projectId, `?folder=${folderId}`)).toEqual([id]);
      expect(await idsByGet(projectId, `?folder.id=${folderId}`)).toEqual([id]);
      expect(await idsByGet(projectId, '?folder=')).toEqual([atRoot]);
    });

    test('a folder of another project is 422, with the pointer of the sent parameter', async () => {
      const foreign = await newFolder(house(), await newProject(house()));
      for (const name of ['folder', 'folder.id']) {
        expect(await byGet(house().projectId, `?${name}=${foreign}`)).toMatchObject({
          status: 422,
          body: { code: 'REFERENCE_NOT_FOUND', errors: [{ pointer: `#query/${name}` }] },
        });
      }
    });

    test('a malformed folder is 400', async () => {
      expect(await byGet(house().projectId, '?folder=x')).toMatchObject({
        status: 400,
        body: { errors: [{ pointer: '#query/folder' }] },
      });
    });

    test('an empty project has none', async () => {
      expect(await idsByGet(await newProject(house()))).toEqual([]);
    });
  });

  describe('a restricted reviewer', () => {
    const restricted = () => house().people.restricted.client;
    const hiddenAndShown = async () => {
      const [hidden, shown] = [await uploadFile(house()), await uploadFile(house())];
      await clientOf(house()).files.update({ params: { id: shown }, body: { allowRestricted: true } });
      return { hidden, shown };
    };

    test('gets only files with allowRestricted; others are 404', async () => {
      const { hidden, shown } = await hiddenAndShown();
      expect((await restricted().files.get({ params: { id: shown } })).data.id).toBe(shown);
      const problem = await refusal(restricted().files.get({ params: { id: hidden } }), 'NOT_FOUND');
      const unknown = restricted().files.get({ params: { id: `FX${'0'.repeat(20)}` } });
      expect(problem.message).toBe((await refusal(unknown, 'NOT_FOUND')).message);
    });

    test('lists only files with allowRestricted', async () => {
      const { hidden, shown } = await hiddenAndShown();
      const params = { id: house().projectId };
      const files = (await restricted().files.list({ params, body: {} })).data;
      const ids = files.map((file) => file.id);
      expect(ids).toContain(shown);
      expect(ids).not.toContain(hidden);
      expect(files.every((file) => file.allowRestricted)).toBe(true);
    });

    test('downloads, comments on and attaches to files with allowRestricted only', async () => {
      const { hidden, shown } = await hiddenAndShown();
      const calls = (id: string) => [
        () => restricted().files.download({ params: { id } }),
        () => restricted().comments.createOnFile({ params: { id }, body: { content: 'Seen' } }),
        () => restricted().comments.listOnFile({ params: { id }, body: {} }),
        () => restricted().attachments.startOnFile({ params: { id }, body: { name: 'a', size: 1 } }),
      ];
      for (const call of calls(hidden)) await refusal(call(), 'NOT_FOUND');
      for (const call of calls(shown)) await call();
    });

    test('gets 404 after allowRestricted is removed', async () => {
      const { shown } = await hiddenAndShown();
      await clientOf(house()).files.update({ params: { id: shown }, body: { allowRestricted: false } });
      await refusal(restricted().files.get({ params: { id: shown } }), 'NOT_FOUND');
    });

    test('cannot change a visible file: 403', async () => {
      const { shown } = await hiddenAndShown();
      const params = { id: shown };
      await refusal(restricted().files.update({ params, body: { name: 'b' } }), 'INSUFFICIENT_ROLE');
      await refusal(restricted().files.setTag({ params, body: { tag: 'APPROVED' } }), 'INSUFFICIENT_ROLE');
      await refusal(restricted().files.delete({ params }), 'INSUFFICIENT_ROLE');
      await refusal(restricted().files.cancel({ params }), 'INSUFFICIENT_ROLE');
      await refusal(restricted().files.getGeneration({ params }), 'INSUFFICIENT_ROLE');
    });
  });
});
