import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { newId } from '../db/ids.ts';
import { secondsFromNow } from '../db/time.ts';
import { json, onEachDatabase } from '../test/house.ts';
import { newProject } from '../test/people.ts';
import { problemIn } from '../test/problem-in.ts';
import { deleteExpiredKeys } from './idempotency.ts';

const replayed = (answer: Response) => answer.headers.get('idempotency-replayed');

onEachDatabase((house) => {
  /** A new project for each test, and a request to it. */
  async function project() {
    const id = await newProject(house().people.owner);
    const path = `/api/projects/${id}/folders`;
    return {
      id,
      path,
      create: (key: string, body: unknown = { name: 'A' }, headers: Record<string, string> = {}) =>
        house().request('owner', 'POST', path, json(body, { 'idempotency-key': key, ...headers })),
      folders: async () => (await house().people.owner.client.folders.list({ params: { id } })).data,
    };
  }

  test('the same key and body return the first status and body with Idempotency-Replayed, and create nothing', async () => {
    const { create, folders } = await project();
    const first = await create('once');
    expect([first.status, replayed(first)]).toEqual([201, null]);
    const body = await first.text();
    for (let again = 0; again < 3; again++) {
      const answer = await create('once');
      expect([answer.status, replayed(answer), await answer.text()]).toEqual([201, 'true', body]);
      expect(answer.headers.get('content-type')).toBe(first.headers.get('content-type'));
    }
    expect(await folders()).toHaveLength(1);
  });

  test('another body with the same key is 422 and creates nothing', async () => {
    const { create, folders } = await project();
    await create('once');
    await problemIn(await create('once', { name: 'B' }), 'IDEMPOTENCY_KEY_REUSED');
    await problemIn(await create('once', { name: 'A', parent: null }), 'IDEMPOTENCY_KEY_REUSED');
    expect(await folders()).toHaveLength(1);
  });

  test('the order of fields and white space do not change the fingerprint', async () => {
    const { create, path } = await project();
    const first = await create('once', { name: 'A', parent: null });
    const again = await house().request('owner', 'POST', path, {
      body: '{ "parent" : null,\n "name":"\\u0041" }',
      headers: { 'content-type': 'application/json; charset=utf-8', 'idempotency-key': 'once' },
    });
    expect([again.status, replayed(again)]).toEqual([201, 'true']);
    expect(await again.text()).toBe(await first.text());
  });

  test('a quoted key is the same key', async () => {
    const { create } = await project();
    const first = await create('8e03978e-40d5');
    const again = await create('"8e03978e-40d5"');
    expect([again.status, replayed(again)]).toEqual([201, 'true']);
    expect(await again.text()).toBe(await first.text());
  });

  test.each([
    ['no characters', ''],
    ['none between quotes', '""'],
    ['256', 'k'.repeat(256)],
    ['256 between quotes', `"${'k'.repeat(256)}"`],
  ])('a key has 1 to 255 characters: %s is 400', async (_, key) => {
    const { create, folders } = await project();
    await problemIn(await create(key), 'INVALID_REQUEST');
    expect(await folders()).toEqual([]);
  });

  test.each(['k', 'k'.repeat(255), `"${'k'.repeat(255)}"`])('a key has 1 to 255 characters: %s works', async (key) => {
    const { create } = await project();
    expect((await create(key)).status).toBe(201);
    expect(replayed(await create(key))).toBe('true');
  });

  test('another credential, path or method is another request', async () => {
    const [here, there] = [await project(), await project()];
    await here.create('once');
    const elsewhere = await there.create('once');
    expect([elsewhere.status, replayed(elsewhere)]).toEqual([201, null]);
    const { key } = await house().withScopes('owner', ['folders:write']);
    const otherwise = await here.create('once', { name: 'A' }, { authorization: `Bearer ${key}` });
    expect([otherwise.status, replayed(otherwise)]).toEqual([201, null]);
    expect(await here.folders()).toHaveLength(2);
  });

  test('a PATCH can be repeated too: 204 again, without a body', async () => {
    const { create, folders } = await project();
    const folder = (await (await create('make')).json()) as { data: { id: string } };
    const rename = (name: string, key: string) =>
      house().request('owner', 'PATCH', `/api/folders/${folder.data.id}`, json({ name }, { 'idempotency-key': key }));
    expect((await rename('B', 'first')).status).toBe(204);
    expect((await rename('C', 'second')).status).toBe(204);
    const again = await rename('B', 'first');
    expect([again.status, replayed(again), await again.text()]).toEqual([204, 'true', '']);
    expect((await folders()).map(({ name }) => name)).toEqual(['C']);
  });

  test('an action without a body can be repeated too', async () => {
    const { id } = await project();
    const act = (verb: string, key: string) =>
      house().request('owner', 'POST', `/api/projects/${id}/${verb}`, { headers: { 'idempotency-key': key } });
    expect((await act('delete', 'once')).status).toBe(204);
    expect((await act('delete.cancel', 'once')).status).toBe(204);
    const again = await act('delete', 'once');
    expect([again.status, replayed(again)]).toEqual([204, 'true']);
    const read = await house().people.owner.client.projects.get({ params: { id } });
    expect(read.data.deletesAt).toBeNull();
  });

  test('GET and QUERY ignore it, DELETE does not', async () => {
    const { path, create, folders } = await project();
    await create('make');
    const [folder] = await folders();
    for (const key of ['once', 'k'.repeat(300), '']) {
      const headers = { 'idempotency-key': key };
      const read = await house().request('owner', 'GET', path, { headers });
      expect([read.status, replayed(read)]).toEqual([200, null]);
    }
    const headers = { 'idempotency-key': 'k'.repeat(300) };
    expect((await house().request('owner', 'QUERY', '/api/projects', json({}, headers))).status).toBe(200);
    const remove = () => house().request('owner', 'DELETE', `/api/folders/${folder?.id}`, { headers });
    expect((await remove()).status).toBe(400);
    headers['idempotency-key'] = 'delete';
    // The folder is looked for before the key.
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
  });

  test('refusals are not stored: the key can be used again', async () => {
    const { id, create } = await project();
    const act = (verb: string) => house().request('owner', 'POST', `/api/projects/${id}/${verb}`);
    await problemIn(await create('once', { name: '' }), 'INVALID_REQUEST');
    await problemIn(await create('once', { name: 'A', parent: { id: newId('DX') } }), 'REFERENCE_NOT_FOUND');
    await act('delete');
    await problemIn(await create('once'), 'PROJECT_DELETING');
    await act('delete.cancel');
    const made = await create('once');
    expect([made.status, replayed(made)]).toEqual([201, null]);
  });

  describe('in time', () => {
    const age = (seconds: number, change: { response?: null } = {}) =>
      house()
        .deps.db.updateTable('idempotency_keys')
        .set({ claimed_at: secondsFromNow(-seconds), ...change })
        .execute();

    test('a key in progress is 409 with Retry-After, and is released after 60 s', async () => {
      const { create, folders } = await project();
      await create('once');
      await age(58, { response: null });
      const busy = await create('once');
      await problemIn(busy, 'IDEMPOTENCY_IN_PROGRESS');
      expect(busy.headers.get('retry-after')).toBe('1');
      await problemIn(await create('once', { name: 'B' }), 'IDEMPOTENCY_KEY_REUSED');
      await age(61);
      const next = await create('once');
      expect([next.status, replayed(next)]).toEqual([201, null]);
      expect(replayed(await create('once'))).toBe('true');
      expect(await folders()).toHaveLength(2);
    });

    test('a key in progress is not released by a server whose clock is ahead', async () => {
      const { create } = await project();
      await create('once');
      await age(0, { response: null });
      onTestFinished(() => void vi.useRealTimers());
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
      await problemIn(await create('once'), 'IDEMPOTENCY_IN_PROGRESS');
    });

    test('a response is stored for 24 hours', async () => {
      const { create, folders } = await project();
      await create('once');
      await age(24 * 3600 - 5);
      expect(replayed(await create('once'))).toBe('true');
      await deleteExpiredKeys(house().deps.db);
      expect(replayed(await create('once'))).toBe('true');
      await age(24 * 3600 + 1);
      const next = await create('once', { name: 'B' });
      expect([next.status, replayed(next)]).toEqual([201, null]);
      expect(await folders()).toHaveLength(2);
    });

    test('the sweep deletes older keys', async () => {
      const { create } = await project();
      await create(randomUUID());
      await age(24 * 3600 + 1);
      await deleteExpiredKeys(house().deps.db);
      expect(await house().deps.db.selectFrom('idempotency_keys').selectAll().execute()).toEqual([]);
    });
  });

  test('of 100 concurrent requests with one key one runs; the others get its response or 409', async () => {
    const { create, folders } = await project();
    const answers = await Promise.all(Array.from({ length: 100 }, () => create('together')));
    const made = answers.filter((answer) => answer.status === 201 && replayed(answer) === null);
    expect(made).toHaveLength(1);
    const body = await made[0]?.text();
    for (const answer of answers.filter((other) => other !== made[0])) {
      if (answer.status === 201) {
        expect([replayed(answer), await answer.text()]).toEqual(['true', body]);
      } else {
        await problemIn(answer, 'IDEMPOTENCY_IN_PROGRESS');
        expect(answer.headers.get('retry-after')).toBe('1');
      }
    }
    const again = await create('together');
    expect([again.status, replayed(again), await again.text()]).toEqual([201, 'true', body]);
    expect(await folders()).toHaveLength(1);
  });
});
