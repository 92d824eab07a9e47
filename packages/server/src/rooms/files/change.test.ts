import { REVIEW_STATUSES } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { type House, json, onEachDatabase, refusal } from '../../test/house.ts';
import { cancel, complete, newFolder, newProject, sent, start, upload, uploadFile } from '../uploads/test/uploads.ts';

const WIDE = '\u{1F3AC}';
const bytes = Buffer.from('some bytes');

type Fields = Parameters<House['people']['owner']['client']['files']['update']>[0]['body'];

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const read = async (id: string) => (await client().files.get({ params: { id } })).data;
  const update = (id: string, body: Fields) => client().files.update({ params: { id }, body });
  const newFile = async () => (await start(client(), 'FX', house().projectId)).id;

  describe('update', () => {
    test('answers 204 without a body', async () => {
      const response = await house().request('owner', 'PATCH', `/api/files/${await newFile()}`, json({ name: 'b' }));
      expect([response.status, await response.text()]).toEqual([204, '']);
    });

    test.each([
      ['name', { name: 'Neu 2.mp4' }],
      ['description', { description: 'For the agency' }],
      ['an empty description', { description: '' }],
      ['a description of 5000 code points', { description: WIDE.repeat(5000) }],
      ['allowRestricted', { allowRestricted: true }],
    ])('%s changes, and otherwise only updatedAt', async (_, fields) => {
      const id = await newFile();
      const before = await read(id);
      await update(id, fields);
      const after = await read(id);
      expect(after).toEqual({ ...before, ...fields, updatedAt: after.updatedAt });
      expect(after.updatedAt > before.updatedAt).toBe(true);
    });

    test('null clears the description', async () => {
      const id = await newFile();
      await update(id, { description: 'Old' });
      await update(id, { description: null });
      expect((await read(id)).description).toBeNull();
    });

    test('a file moves into a folder and back to the root', async () => {
      const id = await newFile();
      const folder = { id: await newFolder(house()) };
      await update(id, { folder });
      expect((await read(id)).folder).toEqual(folder);
      await update(id, { name: 'stays' });
      expect((await read(id)).folder).toEqual(folder);
      await update(id, { folder: null });
      expect((await read(id)).folder).toBeNull();
    });

    test('a folder of another project is 422, and nothing changes', async () => {
      const id = await newFile();
      const before = await read(id);
      const foreign = await newFolder(house(), await newProject(house()));
      const problem = await refusal(update(id, { name: 'b', folder: { id: foreign } }), 'REFERENCE_NOT_FOUND');
      expect(problem.errors).toMatchObject([{ pointer: '/folder/id' }]);
      expect(await read(id)).toEqual(before);
    });

    test.each([
      ['an empty name', { name: '' }, '/name'],
      ['a null name', { name: null }, '/name'],
      ['a name of 256 characters', { name: 'a'.repeat(256) }, '/name'],
      ['a path', { name: 'a/b' }, '/name'],
      ['a description of 5001 characters', { description: 'a'.repeat(5001) }, '/description'],
      ['a tag', { tag: 'APPROVED' }, '/tag'],
      ['a status', { status: 'UPLOADED' }, '/status'],
      ['allowRestricted as text', { allowRestricted: 'true' }, '/allowRestricted'],
    ])('%s is 400', async (_, body, pointer) => {
      const response = await house().request('owner', 'PATCH', `/api/files/${await newFile()}`, json(body));
      expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer }] }]);
    });

    test('concurrent changes of different fields are all kept', async () => {
      const folder = { id: await newFolder(house()) };
      for (let round = 0; round < 5; round++) {
        const id = await newFile();
        const changes = [{ name: 'b' }, { description: 'c' }, { allowRestricted: true }, { folder }];
        await Promise.all(changes.map((fields) => update(id, fields)));
        expect(await read(id)).toMatchObject({ name: 'b', description: 'c', allowRestricted: true, folder });
      }
    });
  });

  describe('tag', () => {
    test.each(REVIEW_STATUSES)('%s', async (tag) => {
      const id = await newFile();
      await client().files.setTag({ params: { id }, body: { tag } });
      expect((await read(id)).tag).toBe(tag);
    });

    test('an unknown tag is 400', async () => {
      const path = `/api/files/${await newFile()}/tag`;
      for (const body of [{ tag: 'DONE' }, { tag: null }, {}]) {
        expect((await house().request('owner', 'PATCH', path, json(body))).status).toBe(400);
      }
    });
  });

  describe('delete', () => {
    test('answers 204; then the file is 404 everywhere', async () => {
      const id = await uploadFile(house());
      const response = await house().request('owner', 'DELETE', `/api/files/${id}`);
      expect([response.status, await response.text()]).toEqual([204, '']);
      const params = { id };
      await refusal(client().files.get({ params }), 'NOT_FOUND');
      await refusal(client().files.download({ params }), 'NOT_FOUND');
      await refusal(client().files.update({ params, body: { name: 'b' } }), 'NOT_FOUND');
      const listed = await client().files.list({ params: { id: house().projectId } });
      expect(listed.data.map((file) => file.id)).not.toContain(id);
    });

    test('its unfinished upload cannot be completed', async () => {
      const { id, sent: parts } = await sent(client(), 'FX', house().projectId, bytes);
      await client().files.delete({ params: { id } });
      await refusal(complete(client(), id, parts), 'NOT_FOUND');
    });

    test('its comments are deleted', async () => {
      const id = await uploadFile(house());
      const comment = await client().comments.createOnFile({ params: { id }, body: { content: 'Nice' } });
      await client().files.delete({ params: { id } });
      await refusal(client().comments.get({ params: { id: comment.data.id } }), 'NOT_FOUND');
    });

    test('a folder with a file cannot be deleted, an emptied one can', async () => {
      const folder = { id: await newFolder(house()) };
      const id = await newFile();
      await update(id, { folder });
      await refusal(client().folders.delete({ params: folder }), 'FOLDER_NOT_EMPTY');
      await client().files.delete({ params: { id } });
      await client().folders.delete({ params: folder });
    });
  });

  describe('cancel', () => {
    test('an unfinished upload becomes CANCELED: 204, then 409', async () => {
      const id = await newFile();
      const response = await house().request('owner', 'POST', `/api/files/${id}/upload.cancel`);
      expect([response.status, await response.text()]).toEqual([204, '']);
      expect((await read(id)).status).toBe('CANCELED');
      await refusal(cancel(client(), id), 'FILE_NOT_CANCELABLE');
    });

    test('a late complete does not change it', async () => {
      const { id, sent: parts } = await sent(client(), 'FX', house().projectId, bytes);
      await cancel(client(), id);
      const before = await read(id);
      await refusal(complete(client(), id, parts), 'UPLOAD_COMPLETED');
      expect(await read(id)).toEqual(before);
    });

    test('a completed file is 409 and does not change', async () => {
      const id = await uploadFile(house());
      await refusal(cancel(client(), id), 'FILE_NOT_CANCELABLE');
      expect((await read(id)).status).toBe('UPLOADED');
      await client().files.download({ params: { id } });
    });

    test('an editor who did not start it can cancel', async () => {
      const id = await newFile();
      await cancel(house().people.member.client, id);
      expect((await read(id)).status).toBe('CANCELED');
    });

    test.each(['ai:generate', 'files:write'] as const)('%s suffices', async (scope) => {
      const { client } = await house().withScopes('owner', [scope]);
      await expect(cancel(client, await newFile())).resolves.not.toThrow();
    });

    test('neither scope is 403', async () => {
      const other = await house().withScopes('owner', ['files:read', 'comments:write']);
      await refusal(cancel(other.client, await newFile()), 'INSUFFICIENT_SCOPE');
    });
  });

  const writes = (person: House['people']['owner'], id: string) => {
    const { files } = person.client;
    const params = { id };
    return [
      () => files.update({ params, body: { name: 'b' } }),
      () => files.setTag({ params, body: { tag: 'APPROVED' } }),
      () => files.cancel({ params }),
      () => files.delete({ params }),
    ];
  };

  test('a reviewer is 403, a non-member 404', async () => {
    const id = await newFile();
    for (const write of writes(house().people.reviewer, id)) await refusal(write(), 'INSUFFICIENT_ROLE');
    for (const write of writes(house().people.stranger, id)) await refusal(write(), 'NOT_FOUND');
    for (const write of writes(house().people.foreigner, id)) await refusal(write(), 'NOT_FOUND');
  });

  test.each(['owner', 'manager', 'member'] as const)('the %s can change everything', async (name) => {
    const id = await newFile();
    for (const write of writes(house().people[name], id)) await expect(write()).resolves.not.toThrow();
  });

  test('changes need files:write', async () => {
    const reader = await house().withScopes('owner', ['files:read', 'files:download']);
    for (const write of writes(reader, await newFile())) await refusal(write(), 'INSUFFICIENT_SCOPE');
  });

  test('in a project that is being deleted reads work and changes are 409', async () => {
    const projectId = await newProject(house());
    const id = await upload(client(), 'FX', projectId, bytes);
    await client().projects.delete({ params: { id: projectId } });
    for (const write of writes(house().people.owner, id)) await refusal(write(), 'PROJECT_DELETING');
    expect((await read(id)).status).toBe('UPLOADED');
    await client().files.download({ params: { id } });
  });
});
