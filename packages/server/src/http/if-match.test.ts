import { contract, type Room } from '@review/contract';
import { expect, test } from 'vitest';
import { json, onEachDatabase } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';

onEachDatabase((house) => {
  const params = () => ({ id: house().projectId });
  const client = () => house().people.owner.client;

  /** An unfinished upload, which no background work changes. */
  const newFile = async () =>
    (await client().files.startUpload({ params: params(), body: { name: 'a.txt', size: 1 } })).data.id;

  /** A new record of each kind that has an ETag. */
  const RECORDS: Record<string, () => Promise<string>> = {
    '/api/projects/:id': async () => (await client().projects.create({ body: { name: 'A' } })).data.id,
    '/api/files/:id': () => newFile(),
    '/api/versions/:id': async () =>
      (await client().versions.create({ params: params(), body: { name: 'A' } })).data.id,
    '/api/comments/:id': async () =>
      (await client().comments.create({ params: params(), body: { content: 'A' } })).data.id,
    '/api/skills/:id': async () => (await client().skills.create({ body: { name: 'A', description: 'A' } })).data.id,
  };
  const BODIES: Record<string, [first: object, second: object]> = {
    '/api/projects/:id': [{ name: 'B' }, { name: 'C' }],
    '/api/files/:id': [{ name: 'B' }, { name: 'C' }],
    '/api/files/:id/tag': [{ tag: 'APPROVED' }, { tag: 'REJECTED' }],
    '/api/versions/:id': [{ name: 'B' }, { name: 'C' }],
    '/api/versions/:id/status': [{ status: 'APPROVED' }, { status: 'REJECTED' }],
    '/api/comments/:id': [{ content: 'B' }, { content: 'C' }],
    '/api/skills/:id': [{ name: 'B' }, { name: 'C' }],
  };
  const changing = Object.values<Room>(contract)
    .flatMap((routes) => Object.values(routes))
    .filter(({ metadata }) => metadata.ifMatch)
    .map(({ path }) => path);

  const read = (address: string) => house().request('owner', 'GET', address);
  const tagOf = async (address: string) => (await read(address)).headers.get('etag') ?? '';

  test.each(changing)('PATCH %s succeeds only if If-Match has the current ETag', async (path) => {
    const recordPath = path.replace(/:id.*/, ':id');
    const id = await RECORDS[recordPath]?.();
    const address = recordPath.replace(':id', String(id));
    const [first, second] = BODIES[path] ?? [{}, {}];
    const patch = (body: object, ifMatch: string) =>
      house().request('owner', 'PATCH', path.replace(':id', String(id)), json(body, { 'if-match': ifMatch }));

    const tag = await tagOf(address);
    expect((await patch(first, tag)).status).toBe(204);
    const changed = await (await read(address)).text();
    await problemIn(await patch(second, tag), 'PRECONDITION_FAILED');
    await problemIn(await patch(second, `W/${await tagOf(address)}`), 'PRECONDITION_FAILED');
    expect(await (await read(address)).text()).toBe(changed);
    expect((await patch(second, `"other", ${await tagOf(address)}`)).status).toBe(204);
    expect((await patch(first, '*')).status).toBe(204);
  });

  test('of concurrent changes with the same ETag one succeeds', async () => {
    const id = await newFile();
    const tag = await tagOf(`/api/files/${id}`);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, count) =>
        house().request('owner', 'PATCH', `/api/files/${id}`, json({ name: `${count}` }, { 'if-match': tag })),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(412)]);
  });

  test('a repeated request with the same idempotency key gets the first response', async () => {
    const id = await newFile();
    const headers = { 'if-match': await tagOf(`/api/files/${id}`), 'idempotency-key': `once-${id}` };
    for (let round = 0; round < 2; round++) {
      const answer = await house().request('owner', 'PATCH', `/api/files/${id}`, json({ name: 'B' }, headers));
      expect(answer.status).toBe(204);
    }
  });
});
