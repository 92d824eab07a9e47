import { MAX_WEBHOOKS } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { type Bodies, testAccess } from '../../test/access.ts';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { newProject } from '../../test/people.ts';
import { addWebhook, newWebhook, postWebhook, read, URL_OF_RECEIVER } from './test/receiver.ts';

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  POST /api/projects/:id/webhooks            | projects:write | O M | 3 | - | 201
  GET /api/projects/:id/webhooks             | projects:write | O M | D | - | 200
  GET /api/webhooks/:id                      | projects:write | O M | D | - | 200
  PATCH /api/webhooks/:id                    | projects:write | O M | 3 | - | 204
  DELETE /api/webhooks/:id                   | projects:write | O M | 3 | - | 204
  POST /api/webhooks/:id/secret.rotate       | projects:write | O M | 3 | - | 204
  POST /api/webhooks/:id/test                | projects:write | O M | 3 | - | 204
  POST /api/webhooks/:id/redeliver           | projects:write | O M | 3 | - | 204
  QUERY /api/webhooks/:id/deliveries         | projects:write | O M | D | - | 200
  POST /api/webhook-deliveries/:id/redeliver | projects:write | O M | 3 | - | 204`;

const BODIES: Bodies = {
  'POST /api/projects/:id/webhooks': () => ({ url: URL_OF_RECEIVER }),
  'PATCH /api/webhooks/:id': () => ({ description: 'Ours' }),
  'POST /api/webhooks/:id/redeliver': () => ({ since: '2026-01-01 00:00:00.000000' }),
  'QUERY /api/webhooks/:id/deliveries': () => ({}),
};

onEachDatabase((house) => {
  const webhooks = () => house().people.owner.client.webhooks;

  test('a webhook is active, gets all types and has a secret of its own', async () => {
    const { id, projectId } = await newWebhook(house());
    const webhook = await read(house(), id);
    expect(webhook).toEqual({
      id,
      url: URL_OF_RECEIVER,
      types: null,
      description: null,
      active: true,
      disabledReason: null,
      failingSince: null,
      lastFailure: null,
      createdAt: expect.any(String),
      secret: expect.stringMatching(SECRET),
      previousSecretExpiresAt: null,
    });
    const other = await read(house(), await addWebhook(house(), projectId));
    expect(other.secret).not.toBe(webhook.secret);
  });

  test('only Get Webhook shows the secret, and the database has it encrypted', async () => {
    const { id, projectId } = await newWebhook(house());
    const { secret } = await read(house(), id);
    const { data } = await webhooks().list({ params: { id: projectId } });
    expect(data).toMatchObject([{ id }]);
    expect(data[0]).not.toHaveProperty('secret');
    const row = await house().deps.db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst();
    expect(JSON.stringify(row)).not.toContain(secret?.slice('whsec_'.length));
  });

  test.each([
    'https://example.com',
    'https://example.com:8443/a/b?c=d%20e&f=(g)',
    'https://sub.example.co.uk/',
    'http://localhost:3000/hook',
    'http://127.0.0.1/hook',
    'http://[::1]:80/',
  ])('%s is a URL', async (url) => {
    expect((await postWebhook(house(), { url })).status).toBe(201);
    const { data } = await webhooks().list({ params: { id: house().projectId } });
    for (const { id } of data) await webhooks().delete({ params: { id } });
  });

  test.each([
    '',
    'example.com',
    'http://example.com/',
    'ftp://example.com/',
    'https://',
    'https://10.0.0.1/',
    'https://[::1]/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://user:password@example.com/',
    'http://localhost@example.com/',
    'https://example.com/#part',
    'https://example.com:65536/',
    'https://example.com/a b',
    'https://example.com\\@evil.example/',
    'http://localhost.example.com/',
    `https://example.com/${'a'.repeat(2048)}`,
  ])('%.40s is not', async (url) => {
    const response = await postWebhook(house(), { url });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer: '/url' }] });
  });

  test.each([
    ['an unknown type', { types: ['comment.painted'] }, '/types/0'],
    ['no type', { types: [] }, '/types'],
    ['a type twice', { types: ['file.created', 'file.created'] }, '/types/1'],
    ['a secret of the caller', { secret: 'whsec_abc' }, '/secret'],
    ['a long description', { description: 'a'.repeat(1025) }, '/description'],
  ])('%s is 400', async (_, fields, pointer) => {
    const response = await postWebhook(house(), { url: URL_OF_RECEIVER, ...fields });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ pointer }] });
  });

  test('a project has a maximum of webhooks, also for concurrent requests', async () => {
    const id = await newProject(house().people.owner);
    const asked = Array.from({ length: MAX_WEBHOOKS + 5 }, () => addWebhook(house(), id));
    const made = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
    expect(made).toHaveLength(MAX_WEBHOOKS);
    await refusal(addWebhook(house(), id), 'WEBHOOK_LIMIT');
    const { data } = await webhooks().list({ params: { id } });
    await webhooks().delete({ params: { id: data[0]?.id ?? '' } });
    await addWebhook(house(), id);
  });

  test('an update changes the given fields only', async () => {
    const { id } = await newWebhook(house(), { types: ['file.created'], description: 'Ours' });
    await webhooks().update({ params: { id }, body: { url: 'https://other.example.com/' } });
    expect(await read(house(), id)).toMatchObject({
      url: 'https://other.example.com/',
      types: ['file.created'],
      description: 'Ours',
    });
    await webhooks().update({ params: { id }, body: { types: null, description: null, active: false } });
    expect(await read(house(), id)).toMatchObject({
      types: null,
      description: null,
      active: false,
      disabledReason: null,
    });
    await webhooks().update({ params: { id }, body: {} });
  });

  test('a deleted webhook is not found, nor are its deliveries', async () => {
    const { id } = await newWebhook(house());
    await webhooks().delete({ params: { id } });
    await refusal(webhooks().get({ params: { id } }), 'NOT_FOUND');
    await refusal(webhooks().deliveries({ params: { id }, body: {} }), 'NOT_FOUND');
  });

  test('a repeated create with the same Idempotency-Key makes one webhook, and stores no secret', async () => {
    const id = await newProject(house().people.owner);
    const call = { params: { id }, body: { url: URL_OF_RECEIVER } };
    const options = { idempotencyKey: 'once' };
    const first = await webhooks().create(call, options);
    expect(await webhooks().create(call, options)).toEqual(first);
    const { secret } = await read(house(), first.data.id);
    const kept = await house().deps.db.selectFrom('idempotency_keys').selectAll().execute();
    expect(JSON.stringify(kept)).not.toContain(secret ?? 'none');
  });

  describe('who may call', () => testAccess(house, 'webhooks', ACCESS, BODIES));
});
