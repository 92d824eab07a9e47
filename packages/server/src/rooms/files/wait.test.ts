import { describe, expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { cancel, complete, sent, start, uploadFile } from '../uploads/test/uploads.ts';

const bytes = Buffer.from('some bytes');

onEachDatabase((house) => {
  const client = () => house().people.owner.client;
  const get = (id: string, wait: string) => house().request('reviewer', 'GET', `/api/files/${id}?wait=${wait}`);
  const unfinished = () => sent(client(), 'FX', house().projectId, bytes);
  const waitFor = (id: string, wait = 60) =>
    house().people.reviewer.client.files.get({ params: { id }, query: { wait } });

  test.each(['0', '1', '60'])('wait=%s is accepted', async (wait) => {
    expect((await get(await uploadFile(house()), wait)).status).toBe(200);
  });

  test.each(['61', '-1', '1.5', 'abc', '', '1e1', '%201'])('wait=%s is 400', async (wait) => {
    const response = await get(await uploadFile(house()), wait);
    expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer: '#query/wait' }] }]);
  });

  test('an unknown query parameter is 400', async () => {
    const response = await house().request('owner', 'GET', `/api/files/${await uploadFile(house())}?wiat=1`);
    expect(response.status).toBe(400);
  });

  test('a final state is answered at once', async () => {
    const id = await uploadFile(house());
    const before = performance.now();
    await waitFor(id);
    expect(performance.now() - before).toBeLessThan(30_000);
  });

  test('the answer comes when the upload completes', async () => {
    const { id, sent } = await unfinished();
    const [answer] = await Promise.all([waitFor(id), complete(client(), id, sent)]);
    expect(answer.data.status).toBe('UPLOADED');
  });

  test('the answer comes when the upload is canceled', async () => {
    const { id } = await unfinished();
    const [answer] = await Promise.all([waitFor(id), cancel(client(), id)]);
    expect(answer.data.status).toBe('CANCELED');
  });

  test('the answer is 404 when the file is deleted', async () => {
    const { id } = await unfinished();
    await Promise.all([refusal(waitFor(id), 'NOT_FOUND'), client().files.delete({ params: { id } })]);
  });

  // They wait for up to a second.
  describe.concurrent('at the same time', () => {
    test('the answer is 404 when the waiting member is removed', async ({ expect }) => {
      const { stranger, owner } = house().people;
      const body = { members: [{ user: { id: stranger.userId }, role: 'PROJECT_REVIEWER' as const }] };
      const added = await owner.client.members.add({ params: { id: house().projectId }, body });
      const { id } = await unfinished();
      const waiting = stranger.client.files.get({ params: { id }, query: { wait: 60 } });
      const refused = expect(waiting).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await owner.client.members.remove({ params: { id: added.data[0]?.id ?? '' } });
      await refused;
    });

    test('changes by another process are seen too', async ({ expect }) => {
      const { id } = await unfinished();
      const waiting = waitFor(id);
      await house().deps.db.updateTable('files').set({ status: 'FAILED' }).where('id', '=', id).execute();
      expect((await waiting).data.status).toBe('FAILED');
    });

    test('after the timeout the response has the current state', async ({ expect }) => {
      const { id } = await start(client(), 'FX', house().projectId);
      const before = performance.now();
      expect((await waitFor(id, 1)).data.status).toBe('UPLOADING');
      expect(performance.now() - before).toBeGreaterThan(950);
    });
  });

  test('many requests wait for one file, and all are answered', async () => {
    const { id, sent } = await unfinished();
    const waiting = Array.from({ length: 30 }, () => waitFor(id));
    await complete(client(), id, sent);
    const statuses = (await Promise.all(waiting)).map((answer) => answer.data.status);
    expect(statuses).toEqual(Array(30).fill('UPLOADED'));
  });
});
