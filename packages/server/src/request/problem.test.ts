import { PROBLEMS, type ProblemCode, problemType } from '@review/contract';
import { expect, test } from 'vitest';
import { newId } from '../db/ids.ts';
import { json, onEachDatabase } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';

onEachDatabase((house) => {
  const post = (body: unknown) =>
    house().request('owner', 'POST', `/api/projects/${house().projectId}/folders`, json(body));
  const fields = async (answer: Response) =>
    (await problemIn(answer, 'INVALID_REQUEST')).errors?.map(({ pointer, code }) => [pointer, code]);

  test('every invalid field is counted and has a JSON Pointer', async () => {
    const problem = await problemIn(await post({ name: 'x'.repeat(65), parent: { id: 'no' } }), 'INVALID_REQUEST');
    expect(problem.errors?.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/name', 'TOO_LONG'],
      ['/parent/id', 'INVALID_FORMAT'],
    ]);
    expect(problem.errors?.[0]?.message).toBe('At most 64 characters.');
    expect(problem.detail).toBe('2 fields are not valid.');
    expect((await problemIn(await post({}), 'INVALID_REQUEST')).detail).toBe('1 field is not valid.');
  });

  test('a missing field is REQUIRED, a wrong one has a type error', async () => {
    expect(await fields(await post({}))).toEqual([['/name', 'REQUIRED']]);
    expect(await fields(await post({ name: 7 }))).toEqual([['/name', 'INVALID_TYPE']]);
    expect(await fields(await post({ name: null }))).toEqual([['/name', 'INVALID_TYPE']]);
  });

  test('an unknown field is refused, at every depth, with ~ and / escaped in its pointer', async () => {
    const body = { name: 'A', nmae: 'B', 'a~b/c': 1, '': 2, parent: { id: newId('DX'), nmae: 1 } };
    const named = await fields(await post(body));
    expect(named?.toSorted()).toEqual(
      ['/nmae', '/a~0b~1c', '/', '/parent/nmae'].toSorted().map((pointer) => [pointer, 'UNKNOWN_FIELD']),
    );
  });

  test('the pointer of a list element has its index', async () => {
    const user = { id: house().people.stranger.userId };
    const body = {
      name: 'A',
      members: [
        { user, role: 'PROJECT_MEMBER' },
        { user, role: 'PROJECT_MEMBER' },
        { user: { id: 'no' }, role: 'KING' },
      ],
    };
    const named = await fields(await house().request('owner', 'POST', '/api/projects', json(body)));
    expect(named).toEqual(
      expect.arrayContaining([
        ['/members/2/user/id', 'INVALID_FORMAT'],
        ['/members/2/role', 'INVALID_VALUE'],
      ]),
    );
  });

  test('the pointer of a query parameter starts with #query', async () => {
    const answer = await house().request('owner', 'GET', '/api/models?outputType=SOUND');
    expect(await fields(answer)).toEqual([['#query/outputType', 'INVALID_VALUE']]);
  });

  test('a well-formed id that does not exist is 422 with its pointer', async () => {
    const problem = await problemIn(await post({ name: 'A', parent: { id: newId('DX') } }), 'REFERENCE_NOT_FOUND');
    expect(problem.errors).toMatchObject([{ pointer: '/parent/id', code: 'REFERENCE_NOT_FOUND' }]);
  });

  test('a folder of another project is answered like one that does not exist', async () => {
    const { client } = house().people.owner;
    const other = await client.projects.create({ body: { name: 'Other' } });
    const elsewhere = await client.folders.create({ params: { id: other.data.id }, body: { name: 'A' } });
    await problemIn(await post({ name: 'A', parent: { id: elsewhere.data.id } }), 'REFERENCE_NOT_FOUND');
  });

  test('the instance is the path without the query', async () => {
    const answer = await house().request('owner', 'GET', '/api/nothing?secret=1');
    expect((await problemIn(answer, 'NOT_FOUND')).instance).toBe('/api/nothing');
  });

  test.each(Object.keys(PROBLEMS) as ProblemCode[])(
    '%s is explained at its type without a credential',
    async (code) => {
      const answer = await house().request(null, 'GET', problemType(code));
      const text = await answer.text();
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(text).toContain(`${code} (${PROBLEMS[code].status})`);
      expect(text).toContain(PROBLEMS[code].explanation);
    },
  );

  test.each(['/problems/unknown', '/problems/INVALID_REQUEST', '/problems/', '/problems/__proto__', '/problems/%'])(
    '%s is 404',
    async (path) => {
      await problemIn(await house().request(null, 'GET', path), 'NOT_FOUND');
    },
  );
});
