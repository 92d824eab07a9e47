import { describe, expect, test } from 'vitest';
import { type House, onEachDatabase, refusal } from '../test/house.ts';
import { newFolder, newProject, start, uploadFile } from '../uploads/test/uploads.ts';

const clientOf = (house: House) => house.people.owner.client;

async function fileIn(house: House, projectId: string, folderId: string | null, name = 'a.bin'): Promise<string> {
  const folder = folderId === null ? null : { id: folderId };
  const body = { name, size: 1, folder };
  return (await clientOf(house).files.startUpload({ params: { id: projectId }, body })).data.id;
}

onEachDatabase((house) => {
  describe('list', () => {
    const list = async (id: string, folder?: string) =>
      (await clientOf(house()).files.list({ params: { id }, query: { folder } })).data.map((file) => file.id);

    test('every file at once, newest first, in folders or not', async () => {
      const projectId = await newProject(house());
      const folderId = await newFolder(house(), projectId);
      const ids: string[] = [];
      for (let made = 0; made < 60; made++) ids.push(await fileIn(house(), projectId, made % 2 ? folderId : null));
      expect(await list(projectId)).toEqual(ids.reverse());
    });

    test('the records are those of Get File', async () => {
      const projectId = await newProject(house());
      const { id } = await start(clientOf(house()), 'FX', projectId);
      const one = await clientOf(house()).files.get({ params: { id } });
      expect((await clientOf(house()).files.list({ params: { id: projectId } })).data).toEqual([one.data]);
    });

    test('of one folder: what lies in it, not deeper', async () => {
      const projectId = await newProject(house());
      const folderId = await newFolder(house(), projectId);
      const inner = await clientOf(house()).folders.create({
        params: { id: projectId },
        body: { name: 'Inner', parent: { id: folderId } },
      });
      const id = await fileIn(house(), projectId, folderId);
      await fileIn(house(), projectId, null);
      await fileIn(house(), projectId, inner.data.id);
      expect(await list(projectId, folderId)).toEqual([id]);
    });

    test('a folder of another project is 422', async () => {
      const foreign = await newFolder(house(), await newProject(house()));
      const problem = await refusal(list(house().projectId, foreign), 'REFERENCE_NOT_FOUND');
      expect(problem.errors).toMatchObject([{ pointer: '#query/folder' }]);
    });

    test('a malformed folder is 400', async () => {
      const response = await house().request('owner', 'GET', `/api/projects/${house().projectId}/files?folder=x`);
      expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer: '#query/folder' }] }]);
    });

    test('an empty project has none', async () => {
      expect(await list(await newProject(house()))).toEqual([]);
    });
  });

  describe('a restricted reviewer', () => {
    const restricted = () => house().people.restricted.client;
    const hiddenAndShown = async () => {
      const [hidden, shown] = [await uploadFile(house()), await uploadFile(house())];
      await clientOf(house()).files.update({ params: { id: shown }, body: { allowRestricted: true } });
      return { hidden, shown };
    };

    test('gets only marked files, others are 404 as if unknown', async () => {
      const { hidden, shown } = await hiddenAndShown();
      expect((await restricted().files.get({ params: { id: shown } })).data.id).toBe(shown);
      const problem = await refusal(restricted().files.get({ params: { id: hidden } }), 'NOT_FOUND');
      const unknown = restricted().files.get({ params: { id: `FX${'0'.repeat(20)}` } });
      expect(problem.message).toBe((await refusal(unknown, 'NOT_FOUND')).message);
    });

    test('lists and searches only marked files', async () => {
      const { hidden, shown } = await hiddenAndShown();
      const params = { id: house().projectId };
      const listed = (await restricted().files.list({ params })).data;
      const found = (await restricted().files.search({ params, body: {} })).data;
      for (const files of [listed, found]) {
        const ids = files.map((file) => file.id);
        expect(ids).toContain(shown);
        expect(ids).not.toContain(hidden);
        expect(files.every((file) => file.allowRestricted)).toBe(true);
      }
    });

    test('downloads, comments and attaches only to marked files', async () => {
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

    test('loses a file with its mark', async () => {
      const { shown } = await hiddenAndShown();
      await clientOf(house()).files.update({ params: { id: shown }, body: { allowRestricted: false } });
      await refusal(restricted().files.get({ params: { id: shown } }), 'NOT_FOUND');
    });

    test('changes no marked file: 403', async () => {
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
