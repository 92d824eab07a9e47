import { expect, test } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { sweep } from '../../sweeper.ts';
import { TIMED } from '../../test/eventually.ts';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { cancel as cancelUpload, deleteForGood, storedBytes, upload } from '../uploads/test/uploads.ts';
import { endOverdue } from './deadlines.ts';
import {
  BY_EDITORS,
  fail,
  fileOf,
  finish,
  generate,
  type Held,
  held,
  NO_LIMITS,
  reserveSubmit,
  sendResult,
  stored,
  storeResult,
  take,
  workerOf,
} from './test/generations.ts';

onEachDatabase((house) => {
  const owner = () => house().people.owner.client;
  const cancel = (id: string) => owner().files.cancel({ params: { id } });
  const waitFor = (id: string) => owner().files.get({ params: { id }, query: { wait: 60 } });
  const passDeadline = (id: string) =>
    house()
      .deps.db.updateTable('generations')
      .set({ deadline_at: secondsFromNow(-1) })
      .where('file_id', '=', id)
      .execute();
  const isGone = async (key: string) =>
    house()
      .deps.storage.read(key)
      .then(
        () => false,
        () => true,
      );

  test('a generation that runs past its deadline fails, retryable', async () => {
    const task = await held(house());
    await reserveSubmit(house(), task);
    await passDeadline(task.id);
    await endOverdue(house().deps);
    expect(await fileOf(house(), task.id)).toMatchObject({
      status: 'FAILED',
      generation: { status: 'FAILED', error: { code: 'PROVIDER_TIMEOUT', retryable: true } },
    });
  });

  test.each([
    [true, 'STORAGE_FULL'],
    [false, 'INTERNAL'],
  ])('a result that is not stored by the deadline: storage reachable %s, error %s', async (reachable, code) => {
    const task = await held(house());
    await reserveSubmit(house(), task);
    await sendResult(house(), task, Buffer.from('# Half of it'));
    await passDeadline(task.id);
    const { deps } = house();
    await endOverdue({ ...deps, storage: { ...deps.storage, isReachable: async () => reachable } });
    expect((await fileOf(house(), task.id)).generation?.error).toMatchObject({ code, retryable: true });
  });

  test('it keeps running before its deadline', async () => {
    const task = await held(house());
    await reserveSubmit(house(), task);
    await endOverdue(house().deps);
    expect((await fileOf(house(), task.id)).status).toBe('GENERATING');
  });

  test('a generation past the queue deadline fails, retryable, with the reason why it was not started', async () => {
    const id = await generate(house());
    await endOverdue(house().deps);
    expect((await fileOf(house(), id)).status).toBe('GENERATING');
    await passDeadline(id);
    await endOverdue(house().deps);
    const error = {
      code: 'PROVIDER_UNAVAILABLE',
      message: 'It waited for 1440 minutes and was not started. No worker that can run it is alive.',
      retryable: true,
    };
    expect(await fileOf(house(), id)).toMatchObject({ status: 'FAILED', generation: { status: 'FAILED', error } });
  });

  test('concurrent deadline checks end a generation once and delete its blobs', async () => {
    const task = await held(house());
    await reserveSubmit(house(), task);
    await storeResult(house(), task);
    const key = (await stored(house(), task.id)).upload?.storage_key ?? '';
    await passDeadline(task.id);
    await Promise.all([endOverdue(house().deps), endOverdue(house().deps), endOverdue(house().deps)]);
    const ended = await stored(house(), task.id);
    await endOverdue(house().deps);
    expect(await stored(house(), task.id)).toEqual(ended);
    await sweep(house().deps);
    expect(await isGone(key)).toBe(true);
  });

  const STATES: Record<string, () => Promise<string>> = {
    'one that waits': () => generate(house()),
    'one that is held': async () => (await held(house())).id,
    'one that runs': async () => {
      const task = await held(house());
      await reserveSubmit(house(), task);
      return task.id;
    },
    'one whose result is half sent': async () => {
      const task = await held(house());
      await sendResult(house(), task, Buffer.from('# Half'));
      return task.id;
    },
    'one whose result is stored': async () => {
      const task = await held(house());
      await storeResult(house(), task);
      return task.id;
    },
  };

  test.each(Object.entries(STATES))('cancel %s: it ends once and leaves no blobs', async (_, make) => {
    const id = await make();
    const key = (await stored(house(), id)).upload?.storage_key;
    await cancel(id);
    expect(await fileOf(house(), id)).toMatchObject({
      status: 'CANCELED',
      size: null,
      generation: { status: 'CANCELED', error: null, finishedAt: expect.stringMatching(/^\d/) },
    });
    const ended = await stored(house(), id);
    await refusal(cancel(id), 'FILE_NOT_CANCELABLE');
    expect(await stored(house(), id)).toEqual(ended);
    await sweep(house().deps);
    if (key !== undefined) expect(await isGone(key)).toBe(true);
  });

  test.each(Object.entries(STATES))('delete %s: the file and its blobs are deleted', async (_, make) => {
    const id = await make();
    const key = (await stored(house(), id)).upload?.storage_key;
    await deleteForGood(owner(), id);
    await refusal(fileOf(house(), id), 'NOT_FOUND');
    const { pendingDeletions, ...left } = await stored(house(), id);
    expect(left).toEqual({ generation: undefined, file: undefined, upload: undefined, steps: [] });
    expect(pendingDeletions.map(({ storage_key }) => storage_key)).toEqual(key === undefined ? [] : [key]);
    await sweep(house().deps);
    if (key !== undefined) expect(await isGone(key)).toBe(true);
  });

  test('a succeeded or failed generation cannot be canceled: 409, and nothing changes', async () => {
    const [succeeded, failed] = [await held(house()), await held(house())];
    await storeResult(house(), succeeded);
    await finish(house(), succeeded);
    await fail(house(), failed);
    for (const { id } of [succeeded, failed]) {
      const before = await stored(house(), id);
      await refusal(cancel(id), 'FILE_NOT_CANCELABLE');
      expect(await stored(house(), id)).toEqual(before);
    }
  });

  test('of concurrent cancels and an end one succeeds', async () => {
    const task = await held(house());
    await storeResult(house(), task);
    const calls = [finish(house(), task), ...Array.from({ length: 9 }, () => cancel(task.id))];
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const won = outcomes[0]?.status === 'fulfilled';
    expect((await fileOf(house(), task.id)).status).toBe(won ? 'UPLOADED' : 'CANCELED');
  });

  test.each(BY_EDITORS)('cancel by %s: %s', async (person, code) => {
    const id = await generate(house());
    const call = house().people[person].client.files.cancel({ params: { id } });
    await (code === null ? call : refusal(call, code));
    expect((await fileOf(house(), id)).status).toBe(code === null ? 'CANCELED' : 'GENERATING');
  });

  test('ai:generate or files:write is required to cancel', async () => {
    for (const scope of ['ai:generate', 'files:write'] as const) {
      await (await house().withScopes('owner', [scope])).client.files.cancel({
        params: { id: await generate(house()) },
      });
    }
    const other = await house().withScopes('owner', ['files:read', 'projects:write']);
    await refusal(other.client.files.cancel({ params: { id: await generate(house()) } }), 'INSUFFICIENT_SCOPE');
  });

  const ENDINGS: Record<string, (task: Held) => Promise<unknown>> = {
    UPLOADED: (task) => finish(house(), task),
    FAILED: (task) => fail(house(), task),
    CANCELED: ({ id }) => cancel(id),
  };
  test.each(Object.entries(ENDINGS))(
    'a waiting Get File is answered at once when the file is %s',
    TIMED,
    async (status, end) => {
      const task = await held(house());
      await storeResult(house(), task);
      const waiting = waitFor(task.id);
      await fileOf(house(), task.id);
      await end(task);
      const from = performance.now();
      expect((await waiting).data.status).toBe(status);
      expect(performance.now() - from).toBeLessThan(300);
    },
  );

  test('a waiting Get File is answered when the deadline passes', async () => {
    const task = await held(house());
    await reserveSubmit(house(), task);
    await passDeadline(task.id);
    const [answer] = await Promise.all([waitFor(task.id), endOverdue(house().deps)]);
    expect(answer.data.generation?.error?.code).toBe('PROVIDER_TIMEOUT');
  });

  test('a used generation attachment is kept after its expiry and cannot be canceled; an unused one is swept', async () => {
    const [used, unused] = [
      await upload(owner(), 'GA', house().projectId),
      await upload(owner(), 'GA', house().projectId),
    ];
    const id = await generate(house(), { attachments: [{ id: used }] });
    await refusal(cancelUpload(owner(), used), 'UPLOAD_COMPLETED');
    await house()
      .deps.db.updateTable('uploads')
      .set({ expires_at: secondsFromNow(-1) })
      .where('id', 'in', [used, unused])
      .execute();
    await sweep(house().deps);
    expect((await storedBytes(house(), used)).toString()).toBe('some bytes');
    expect(await isGone(unused)).toBe(true);
    const { epoch } = await take(house(), id);
    const { data } = await workerOf(house()).getTask({ params: { id }, query: { epoch } });
    const [content] = data.attachments.map((attachment) => attachment.content);
    expect(await (await fetch(content?.url ?? '')).text()).toBe('some bytes');
    await deleteForGood(owner(), id);
    await sweep(house().deps);
    expect(await isGone(used)).toBe(true);
  });

  test('a deleted attachment has no content for the worker', async () => {
    const file = await upload(owner(), 'FX', house().projectId);
    const id = await generate(house(), { attachments: [{ id: file }] });
    await deleteForGood(owner(), file);
    const { epoch } = await take(house(), id);
    const { data } = await workerOf(house()).getTask({ params: { id }, query: { epoch } });
    expect(data.attachments).toEqual([{ id: file, content: null }]);
  });
}, NO_LIMITS);
