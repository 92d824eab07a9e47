import { cursorPage } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { json, onEachDatabase } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';

const Page = cursorPage(z.object({ id: z.string(), name: z.string() }));

onEachDatabase((house) => {
  const byGet = (query: string) => house().request('owner', 'GET', `/api/projects${query}`);
  const byQuery = (body: object) => house().request('owner', 'QUERY', '/api/projects', json(body));
  const comments = (query: string) =>
    house().request('owner', 'GET', `/api/projects/${house().projectId}/comments${query}`);

  test.each([
    ['', {}],
    ['?keyword=film', { keyword: 'film' }],
    ['?keyword=%C3%A9%20%26', { keyword: 'é &' }],
    ['?sort.type=name', { sort: { type: 'name' } }],
    ['?sort.type=createdAt&sort.direction=asc', { sort: { type: 'createdAt', direction: 'asc' } }],
  ])('GET /api/projects%s has the response of its QUERY', async (query, body) => {
    const [got, queried] = [await byGet(query), await byQuery(body)];
    expect(got.status).toBe(200);
    expect(await got.json()).toEqual(await queried.json());
    expect(got.headers.get('cache-control')).toBe(queried.headers.get('cache-control'));
  });

  test('a flag must be true or false', async () => {
    const { client } = house().people.owner;
    const params = { id: house().projectId };
    const open = (await client.comments.create({ params, body: { content: 'Open' } })).data.id;
    const closed = (await client.comments.create({ params, body: { content: 'Closed' } })).data.id;
    await client.comments.resolve({ params: { id: closed } });
    const ids = async (query: string) => {
      const page = cursorPage(z.object({ id: z.string() })).parse(await (await comments(query)).json());
      return page.data.map(({ id }) => id);
    };
    expect(await ids('?resolved=true')).toEqual([closed]);
    expect(await ids('?resolved=false')).toEqual([open]);
    expect(await ids('?sort.direction=desc')).toEqual([closed, open]);
    for (const spelling of ['', '1', 'yes', 'TRUE', '%20true']) {
      const problem = await problemIn(await comments(`?resolved=${spelling}`), 'INVALID_REQUEST');
      expect(problem.errors).toMatchObject([{ pointer: '#query/resolved', code: 'INVALID_TYPE' }]);
    }
  });

  test.each([
    ['unknown', '?surprise=1', '#query/surprise', 'UNKNOWN_FIELD'],
    ['an object by its name alone', '?sort=name', '#query/sort', 'UNKNOWN_FIELD'],
    ['with an unknown inner name', '?sort.order=name', '#query/sort.order', 'UNKNOWN_FIELD'],
    ['in brackets', '?sort%5Btype%5D=name', '#query/sort[type]', 'UNKNOWN_FIELD'],
    ['repeated', '?keyword=a&keyword=b', '#query/keyword', 'REPEATED'],
    ['repeated with the same value', '?sort.type=name&sort.type=name', '#query/sort.type', 'REPEATED'],
    ['empty', '?keyword=', '#query/keyword', 'TOO_SHORT'],
    ['not one of its values', '?sort.type=size', '#query/sort.type', 'INVALID_VALUE'],
    ['a second cursor', '?next=a&prev=b', '#query/prev', 'BOTH_CURSORS'],
  ])('a parameter that is %s is 400', async (_, query, pointer, code) => {
    const problem = await problemIn(await byGet(query), 'INVALID_REQUEST');
    expect(problem.errors).toMatchObject([{ pointer, code }]);
  });

  test('a folder is given once, as folder or folder.id', async () => {
    const id = `DX${'0'.repeat(20)}`;
    for (const query of [`?folder=${id}&folder.id=${id}`, `?folder=&folder.id=${id}`]) {
      const answer = await house().request('owner', 'GET', `/api/projects/${house().projectId}/files${query}`);
      const problem = await problemIn(answer, 'INVALID_REQUEST');
      expect(problem.errors).toMatchObject([{ pointer: '#query/folder.id', code: 'REPEATED' }]);
    }
  });

  test('an altered cursor is 400, and its pointer names the parameter', async () => {
    const problem = await problemIn(await byGet('?next=x'), 'INVALID_CURSOR');
    expect(problem.errors).toMatchObject([{ pointer: '#query/next' }]);
  });

  test('a cursor made by QUERY works by GET, and the reverse', async () => {
    const { client } = house().people.owner;
    for (let made = 0; made < 51; made++) await client.projects.create({ body: { name: `Paged ${made}` } });
    const sort = { type: 'name', direction: 'asc' };
    const queried = Page.parse(await (await byQuery({ keyword: 'Paged', sort })).json());
    const query = '?keyword=Paged&sort.type=name&sort.direction=asc';
    const next = Page.parse(await (await byGet(`${query}&next=${queried.page.next}`)).json());
    expect(next.data.map(({ name }) => name)).toEqual(['Paged 9']);
    const back = Page.parse(await (await byQuery({ keyword: 'Paged', sort, prev: next.page.prev })).json());
    expect(back.data).toEqual(queried.data);
    await problemIn(await byGet(`?keyword=paged&next=${queried.page.next}`), 'INVALID_CURSOR');
  });

  test('HEAD is the GET without its body', async () => {
    const answer = await house().request('owner', 'HEAD', '/api/projects');
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  });

  test('GET requires the scope of the QUERY list', async () => {
    const { key } = await house().withScopes('owner', ['files:read']);
    const headers = { authorization: `Bearer ${key}` };
    await problemIn(await house().request(null, 'GET', '/api/projects', { headers }), 'INSUFFICIENT_SCOPE');
  });
});

describe('rates', () => {
  onEachDatabase(
    (house) => {
      test('GET and QUERY of one list share one limit', async () => {
        const left = async (method: string, init: RequestInit = {}) => {
          const answer = await house().request('owner', method, '/api/projects', init);
          return Number(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);
        };
        const before = await left('GET');
        expect(await left('QUERY', json({}))).toBe(before - 1);
        expect(await left('GET')).toBe(before - 2);
      });
    },
    { RATE_LIMITS: 'on' },
  );
});
