import { describe, expect, test } from 'vitest';
import { type Bodies, partsOf, testAccess, UPLOAD } from '../../test/access.ts';
import { type House, json, onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import { complete, putParts, start, startedBy, upload, uploadFile } from '../uploads/test/uploads.ts';

const bytes = Buffer.from('a screenshot');

const attach = (house: House, person: PersonName = 'owner', name = 'shot.txt') =>
  upload(house.people[person].client, 'CA', house.projectId, bytes, { name });

const download = (house: House, person: PersonName, id: string) =>
  house.people[person].client.attachments.download({ params: { id } });

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  POST /api/projects/:id/generation-attachments/upload.multipart | ai:generate       | O M Mb  | 3 | - | 201
  POST /api/projects/:id/comment-attachments/upload.multipart    | comments:write    | member  | 3 | - | 201
  POST /api/files/:id/comment-attachments/upload.multipart       | comments:write    | member  | 3 | - | 201
  POST /api/generation-attachments/:id/upload.complete           | -                 | starter | 3 | - | 204
  POST /api/comment-attachments/:id/upload.complete              | -                 | starter | 3 | - | 204
  POST /api/generation-attachments/:id/upload.cancel             | -                 | starter | 3 | - | 204
  POST /api/comment-attachments/:id/upload.cancel                | -                 | starter | 3 | - | 204
  GET /api/comment-attachments/:id/download                      | comments:download | member  | 4 | - | 200`;

const BODIES: Bodies = {
  'POST /api/projects/:id/generation-attachments/upload.multipart': () => UPLOAD,
  'POST /api/projects/:id/comment-attachments/upload.multipart': () => UPLOAD,
  'POST /api/files/:id/comment-attachments/upload.multipart': () => UPLOAD,
  'POST /api/generation-attachments/:id/upload.complete': (_, upload) => partsOf(upload),
  'POST /api/comment-attachments/:id/upload.complete': (_, upload) => partsOf(upload),
};

onEachDatabase((house) => {
  const onProject = (id: string, person: PersonName = 'owner') =>
    house().people[person].client.comments.create({
      params: { id: house().projectId },
      body: { attachments: [{ id }] },
    });
  const onFile = (fileId: string, id: string) =>
    house().people.owner.client.comments.createOnFile({ params: { id: fileId }, body: { attachments: [{ id }] } });

  describe('download', () => {
    test('a signed URL serves the content under its original name', async () => {
      const id = await attach(house());
      const { data } = await download(house(), 'owner', id);
      const response = await fetch(data.url);
      expect([response.status, await response.text()]).toEqual([200, 'a screenshot']);
      expect(response.headers.get('content-disposition')).toBe('attachment; filename="shot.txt"');
      expect(Object.keys(data).sort()).toEqual(['expiresAt', 'url']);
    });

    test('before completion it is 409', async () => {
      const { id } = await start(house().people.owner.client, 'CA', house().projectId);
      await refusal(download(house(), 'owner', id), 'FILE_NOT_READY');
    });

    test('comments:download is the only required scope', async () => {
      const id = await attach(house());
      const loader = await house().withScopes('owner', ['comments:download']);
      await loader.client.attachments.download({ params: { id } });
      const reader = await house().withScopes('owner', ['comments:read', 'comments:write', 'files:download']);
      await refusal(reader.client.attachments.download({ params: { id } }), 'INSUFFICIENT_SCOPE');
    });

    test('an unknown or malformed id is 404', async () => {
      for (const id of [`CA${'0'.repeat(20)}`, 'CA1', await uploadFile(house())]) {
        const response = await house().request('owner', 'GET', `/api/comment-attachments/${id}/download`);
        expect(response.status, id).toBe(404);
      }
    });
  });

  describe('visibility of an attachment', () => {
    const others = ['manager', 'member', 'reviewer', 'restricted'] as const;

    test('unused: visible to its starter only, in any role', async () => {
      const id = await attach(house(), 'restricted');
      await download(house(), 'restricted', id);
      for (const person of ['owner', 'manager', 'member', 'reviewer', 'stranger', 'foreigner'] as const) {
        await refusal(download(house(), person, id), 'NOT_FOUND');
      }
    });

    test('used by a comment on the project: visible to every member only', async () => {
      const id = await attach(house());
      await onProject(id);
      for (const person of others) await download(house(), person, id);
      for (const person of ['stranger', 'foreigner'] as const) {
        await refusal(download(house(), person, id), 'NOT_FOUND');
      }
    });

    test('used on a file that restricted reviewers cannot see: visible to all members but them', async () => {
      const id = await attach(house());
      const fileId = await uploadFile(house());
      await onFile(fileId, id);
      for (const person of ['manager', 'member', 'reviewer'] as const) await download(house(), person, id);
      await refusal(download(house(), 'restricted', id), 'NOT_FOUND');
      const body = { allowRestricted: true };
      await house().people.owner.client.files.update({ params: { id: fileId }, body });
      await download(house(), 'restricted', id);
    });

    test('after its comment is deleted: visible to no one', async () => {
      const id = await attach(house());
      const comment = await onProject(id);
      await house().people.owner.client.comments.delete({ params: { id: comment.data.id } });
      await refusal(download(house(), 'owner', id), 'NOT_FOUND');
    });
  });

  describe('an attachment belongs to the project it was started in, to its starter and to one comment', () => {
    test('started on a file, it can be used by a comment on the file and by one on the project', async () => {
      const { client } = house().people.owner;
      const fileId = await uploadFile(house());
      for (const use of [(id: string) => onFile(fileId, id), (id: string) => onProject(id)]) {
        const path = `/api/files/${fileId}/comment-attachments/upload.multipart`;
        const started = await startedBy(house().request('owner', 'POST', path, json({ name: 'a', size: 1 })));
        expect(started.id).toMatch(/^CA/);
        await complete(client, started.id, await putParts(started, Buffer.from('x')));
        await use(started.id);
      }
    });

    test('a second comment cannot use it', async () => {
      const id = await attach(house());
      await onProject(id);
      await refusal(onProject(id), 'ATTACHMENT_USED');
    });

    test('of ten concurrent comments one uses it', async () => {
      const id = await attach(house());
      const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => onProject(id)));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    test('another person cannot use it', async () => {
      await refusal(onProject(await attach(house()), 'manager'), 'REFERENCE_NOT_FOUND');
    });

    test('an unfinished one cannot be used', async () => {
      const { id } = await start(house().people.owner.client, 'CA', house().projectId);
      await refusal(onProject(id), 'ATTACHMENT_NOT_READY');
    });
  });

  testAccess(house, 'attachments', ACCESS, BODIES);
});
