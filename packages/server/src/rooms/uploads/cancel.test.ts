import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sweep } from '../../sweeper.ts';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { cancel, cancelPath, complete, KINDS, newProject, put, sent, start, upload } from './test/uploads.ts';

const bytes = randomBytes(100);

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const statusOf = async (call: Promise<void>) =>
    call.then(
      () => 204,
      (problem: { status: number }) => problem.status,
    );
  const comment = (id: string) =>
    client().comments.create({ params: { id: house().projectId }, body: { attachments: [{ id }] } });

  describe.each(['CA', 'GA'] as const)('cancel %s', (kind) => {
    test('an unfinished upload is deleted: 204, then 404', async () => {
      const { id, sent: parts } = await sent(client(), kind, house().projectId, bytes);
      const response = await house().request('owner', 'POST', cancelPath(kind, id));
      expect([response.status, await response.text()]).toEqual([204, '']);
      await refusal(complete(client(), id, parts), 'NOT_FOUND');
      await refusal(cancel(client(), id), 'NOT_FOUND');
    });

    test('a completed unused one can be deleted', async () => {
      const id = await upload(client(), kind, house().projectId, bytes);
      await cancel(client(), id);
      await refusal(cancel(client(), id), 'NOT_FOUND');
    });

    test('it is 404 to all but its starter', async () => {
      const { id } = await start(client(), kind, house().projectId);
      for (const person of ['manager', 'restricted', 'stranger', 'foreigner'] as const) {
        await refusal(cancel(house().people[person].client, id), 'NOT_FOUND');
      }
      await cancel(client(), id);
    });

    test('no scope is needed', async () => {
      const { id } = await start(client(), kind, house().projectId);
      await cancel((await house().withScopes('owner', [])).client, id);
      await refusal(cancel(client(), id), 'NOT_FOUND');
    });

    test('in a project that is being deleted it is 409', async () => {
      const projectId = await newProject(house());
      const { id } = await start(client(), kind, projectId);
      await client().projects.delete({ params: { id: projectId } });
      await refusal(cancel(client(), id), 'PROJECT_DELETING');
    });
  });

  test('a used comment attachment is 409 and stays', async () => {
    const id = await upload(client(), 'CA', house().projectId, bytes);
    await comment(id);
    await refusal(cancel(client(), id), 'UPLOAD_COMPLETED');
    await client().attachments.download({ params: { id } });
  });

  test('a comment attachment is either canceled or used by a comment, never both', async () => {
    for (let round = 0; round < 10; round++) {
      const id = await upload(client(), 'CA', house().projectId, bytes);
      const [taken, canceled] = await Promise.all([
        comment(id).then(
          () => 201,
          (problem: { status: number }) => problem.status,
        ),
        statusOf(cancel(client(), id)),
      ]);
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual([taken, canceled]);
    }
  });

  test.each(KINDS)('%s is either completed or canceled first, without an error', async (kind) => {
    for (let round = 0; round < 6; round++) {
      const { id, sent: parts } = await sent(client(), kind, house().projectId, bytes);
      const [completed, canceled] = await Promise.all([
        statusOf(complete(client(), id, parts)),
        statusOf(cancel(client(), id)),
      ]);
      // A completed file cannot be canceled; an attachment can.
      const outcomes = kind === 'FX' ? [204, 409] : [204];
      expect(outcomes).toContain(canceled);
      expect([204, 404, 409]).toContain(completed);
      if (kind !== 'FX') continue;
      expect(completed === 204).toBe(canceled === 409);
      const { status } = (await client().files.get({ params: { id } })).data;
      expect(status).toBe(completed === 204 ? 'UPLOADED' : 'CANCELED');
    }
  });

  test.each(KINDS)('%s accepts no part after it is canceled', async (kind) => {
    const { id, parts } = await start(client(), kind, house().projectId, { size: bytes.length });
    await cancel(client(), id);
    expect((await put(parts[0]?.url ?? '', bytes)).status).toBe(404);
  });

  test('a canceled file cannot be completed, and the next sweep succeeds', async () => {
    const { id, sent: parts } = await sent(client(), 'FX', house().projectId, bytes);
    await cancel(client(), id);
    await refusal(complete(client(), id, parts), 'UPLOAD_COMPLETED');
    await sweep(house().deps);
    expect(await house().deps.db.selectFrom('pending_blob_deletions').selectAll().execute()).toEqual([]);
  });

  test('a file that is deleted during its upload accepts no part', async () => {
    const { id, parts } = await start(client(), 'FX', house().projectId, { size: bytes.length });
    await client().files.delete({ params: { id } });
    expect((await put(parts[0]?.url ?? '', bytes)).status).toBe(404);
  });
});
