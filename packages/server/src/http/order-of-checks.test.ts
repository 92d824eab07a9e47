import { describe, expect, test } from 'vitest';
import { newUuid } from '../db/ids.ts';
import { json, onEachDatabase } from '../test/house.ts';
import { problemIn } from '../test/problem-in.ts';

onEachDatabase((house) => {
  const folders = (id = house().projectId) => `/api/projects/${id}/folders`;

  describe('the path is checked before the credential', () => {
    test.each(['/api/nothing', '/api', '/nothing', '/api/ping/', '/API/ping', '/api/projects//folders'])(
      '%s is unknown: 404 without a credential',
      async (path) => {
        const answer = await house().request(null, 'GET', path);
        await problemIn(answer, 'NOT_FOUND');
        expect(answer.headers.get('www-authenticate')).toBeNull();
      },
    );

    test.each([
      ['PUT', '/api/ping', 'GET, HEAD, OPTIONS'],
      ['PUT', '/api/projects', 'GET, HEAD, OPTIONS, POST, QUERY'],
      ['QUERY', '/api/ping', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/api/projects/:id', 'GET, HEAD, OPTIONS, PATCH'],
      ['PUT', '/api/projects/:id/folders', 'GET, HEAD, OPTIONS, POST'],
      ['POST', '/api/folders/:id', 'DELETE, OPTIONS, PATCH'],
      ['GET', '/api/projects/:id/delete', 'OPTIONS, POST'],
    ])('%s %s is 405 with Allow: %s', async (method, path, allow) => {
      const address = path.replace(':id', house().projectId);
      const answer = await house().request(null, method, address);
      await problemIn(answer, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.get('allow')).toBe(allow);
      const asked = await house().request(null, 'OPTIONS', address);
      expect([asked.status, asked.headers.get('allow')]).toEqual([204, allow]);
    });

    test('HEAD is 405 where there is no GET, and a GET without its body where there is one', async () => {
      const refused = await house().request(null, 'HEAD', `/api/projects/${house().projectId}/delete`);
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'OPTIONS, POST']);
      expect((await house().request(null, 'HEAD', '/api/ping')).status).toBe(401);
      const answer = await house().request('owner', 'HEAD', '/api/ping');
      expect([answer.status, await answer.text()]).toEqual([200, '']);
    });
  });

  test('401 comes before the checks of the subject and of the body', async () => {
    const unreadable = { body: '{', headers: { 'content-type': 'text/plain' } };
    await problemIn(await house().request(null, 'POST', folders(), unreadable), 'MISSING_CREDENTIAL');
    await problemIn(await house().request(null, 'POST', folders(newUuid()), unreadable), 'MISSING_CREDENTIAL');
    await problemIn(await house().request(null, 'GET', '/api/models?outputType=NONE'), 'MISSING_CREDENTIAL');
  });

  test('a missing scope is 403 whether or not the subject exists', async () => {
    const { key } = await house().withScopes('owner', ['folders:read']);
    for (const id of [newUuid(), 'malformed', house().projectId]) {
      const answer = await house().request(null, 'POST', folders(id), json({}, { authorization: `Bearer ${key}` }));
      const problem = await problemIn(answer, 'INSUFFICIENT_SCOPE');
      expect(problem.detail).toContain('folders:write');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="folders:write"');
    }
  });

  test('an invisible subject is 404 for every role; an insufficient role is 403', async () => {
    const path = `/api/projects/${house().projectId}/delete`;
    await problemIn(await house().request('stranger', 'POST', path), 'NOT_FOUND');
    await problemIn(await house().request('foreigner', 'POST', path), 'NOT_FOUND');
    await problemIn(await house().request('manager', 'POST', path), 'INSUFFICIENT_ROLE');
  });

  test.each([
    ['malformed JSON', { body: '{"name":', headers: { 'content-type': 'application/json' } }],
    ['another content type', { body: 'name=x', headers: { 'content-type': 'text/plain' } }],
    ['5 MB', { body: `"${'x'.repeat(5_000_000)}"`, headers: { 'content-type': 'application/json' } }],
    ['fields that are not valid', json({ nmae: 1 })],
    ['a key that is too long', json({ name: 'A' }, { 'idempotency-key': 'k'.repeat(300) })],
  ])('permissions are checked before the body is read: %s', async (_, body) => {
    await problemIn(await house().request('reviewer', 'POST', folders(), body), 'INSUFFICIENT_ROLE');
    await problemIn(await house().request('stranger', 'POST', folders(), body), 'NOT_FOUND');
  });

  test('then the body is checked: type, size, syntax, schema, references', async () => {
    const post = (body: RequestInit) => house().request('owner', 'POST', folders(), body);
    const large = 'x'.repeat(1024 * 1024);
    await problemIn(await post({ body: large, headers: { 'content-type': 'text/plain' } }), 'UNSUPPORTED_MEDIA_TYPE');
    await problemIn(
      await post({ body: large + large, headers: { 'content-type': 'application/json' } }),
      'BODY_TOO_LARGE',
    );
    await problemIn(await post({ body: '{', headers: { 'content-type': 'application/json' } }), 'INVALID_JSON');
    const parent = { id: 'DX00000000000000000000' };
    await problemIn(await post(json({ name: '', parent })), 'INVALID_REQUEST');
    await problemIn(await post(json({ name: 'A', parent })), 'REFERENCE_NOT_FOUND');
  });

  test('the schema is checked before the idempotency key, and the key before the references', async () => {
    const post = (body: unknown) =>
      house().request('owner', 'POST', folders(), json(body, { 'idempotency-key': 'order-of-checks' }));
    expect((await post({ name: 'A' })).status).toBe(201);
    await problemIn(await post({ name: '' }), 'INVALID_REQUEST');
    await problemIn(await post({ name: 'A', parent: { id: 'DX00000000000000000000' } }), 'IDEMPOTENCY_KEY_REUSED');
  });
});
