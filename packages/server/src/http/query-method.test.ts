import { describe, expect, test } from 'vitest';
import { json, onEachDatabase } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

onEachDatabase((house) => {
  const send = (method: string, init: RequestInit) => house().request('owner', method, '/api/projects', init);
  const projects = async () => {
    const { people } = house();
    return (await people.owner.client.projects.list({ body: {} })).data.length;
  };

  describe.each([
    ['QUERY', 'QUERY', {}],
    ['POST + X-HTTP-Method-Override', 'POST', { 'x-http-method-override': 'QUERY' }],
    ['POST + X-HTTP-Method-Override in small letters', 'POST', { 'x-http-method-override': 'query' }],
  ])('%s', (_, method, override) => {
    const query = (body: RequestInit) => send(method, { ...body, headers: { ...body.headers, ...override } });

    test('lists, with a response that must not be cached', async () => {
      const answer = await query(json({}));
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({
        data: [{ id: house().projectId }],
        page: { next: null, prev: null },
      });
      expect(answer.headers.get('cache-control')).toBe('private, no-store');
    });

    test('without a Content-Type it is 400', async () => {
      await problemIn(await query({ body: bytes('{}') }), 'INVALID_REQUEST');
      await problemIn(await query({}), 'INVALID_REQUEST');
    });

    test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
      'as %s it is 415 with Accept-Query',
      async (type) => {
        const answer = await query({ body: '{}', headers: { 'content-type': type } });
        await problemIn(answer, 'UNSUPPORTED_MEDIA_TYPE');
        expect(answer.headers.get('accept-query')).toBe('"application/json"');
        expect(answer.headers.get('cache-control')).toBe('private, no-store');
      },
    );

    test('as another type it is 415 even without a body', async () => {
      const answer = await query({ headers: { 'content-type': 'text/plain' } });
      await problemIn(answer, 'UNSUPPORTED_MEDIA_TYPE');
      expect(answer.headers.get('accept-query')).toBe('"application/json"');
    });

    test('its refusals must not be cached either', async () => {
      const { headers } = await query({ ...json({}), ...{ body: '{' } });
      expect(headers.get('cache-control')).toBe('private, no-store');
    });

    test('it ignores an Idempotency-Key', async () => {
      const keyed = json({}, { 'idempotency-key': 'k'.repeat(300) });
      const answers = [await query(keyed), await query(keyed)];
      for (const answer of answers) {
        expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([200, null]);
      }
    });
  });

  test('a QUERY without a credential is 401, not 405', async () => {
    await problemIn(await house().request(null, 'QUERY', '/api/projects', json({})), 'MISSING_CREDENTIAL');
  });

  test('POST /api/projects stays the creation of a project', async () => {
    const before = await projects();
    const answer = await send('POST', json({ name: 'Made by POST' }));
    expect(answer.status).toBe(201);
    expect(await projects()).toBe(before + 1);
    await problemIn(await send('POST', json({})), 'INVALID_REQUEST');
  });

  test.each(['DELETE', 'GET', 'PATCH', '', 'QUERY, QUERY', 'nonsense'])(
    'an override to "%s" is ignored',
    async (override) => {
      const answer = await send('POST', json({ name: 'Still a POST' }, { 'x-http-method-override': override }));
      expect(answer.status).toBe(201);
      const { projectId } = house();
      const other = await house().request('owner', 'POST', `/api/projects/${projectId}`, {
        headers: { 'x-http-method-override': override },
      });
      await problemIn(other, 'METHOD_NOT_ALLOWED');
    },
  );

  test('only a POST can be overridden', async () => {
    const answer = await house().request('owner', 'PUT', '/api/projects', {
      headers: { 'x-http-method-override': 'QUERY' },
    });
    await problemIn(answer, 'METHOD_NOT_ALLOWED');
  });

  test('an override to QUERY where there is none is 405', async () => {
    const answer = await house().request('owner', 'POST', `/api/projects/${house().projectId}/folders`, {
      ...json({ name: 'A' }, { 'x-http-method-override': 'QUERY' }),
    });
    await problemIn(answer, 'METHOD_NOT_ALLOWED');
  });
});
