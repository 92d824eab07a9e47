import type { ApiProblem } from '@review/client';
import { type LinkRole, SCOPES, type Scope } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { type Bodies, MAKER, testAccess } from '../../test/access.ts';
import { type House, json, onEachDatabase, type PersonName, refusal } from '../../test/house.ts';

const WIDE = '\u{1F3AC}';
const RECORD_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/;
const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** 128 bits in base64url. */
const KEY = /^[\w-]{22}$/;
const UNKNOWN = '0195c2de-1234-7abc-8def-0123456789ab';
const IN_AN_HOUR = () => secondsFromNow(3600);

type Client = House['people']['owner']['client'];
type Fields = Parameters<Client['accessLinks']['create']>[0]['body'];

const linksOf = (house: House) => house.people.owner.client.accessLinks;

const newProject = async (house: House): Promise<string> =>
  (await house.people.owner.client.projects.create({ body: { name: 'Fresh' } })).data.id;

async function newLink(house: House, fields: Partial<Fields> = {}, projectId = house.projectId): Promise<string> {
  const body = { role: 'PROJECT_REVIEWER' as const, ...fields };
  return (await linksOf(house).create({ params: { id: projectId }, body })).data.id;
}

const read = async (house: House, id: string) => (await linksOf(house).get({ params: { id } })).data;

const storedLink = (house: House, id: string) =>
  house.deps.db.selectFrom('access_links').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

const errorsOf = (problem: ApiProblem) => problem.errors.map(({ pointer, code }) => `${pointer} ${code}`);

/** Method and path, scopes, roles, tier, tool and success, as the specification has them; not taken from the contract. */
const ACCESS = `
  GET /api/project-access-links/:id     | access-links:read  | O M | D | get_project_access_link   | 200
  QUERY /api/projects/:id/access-links  | access-links:read  | O M | D | list_project_access_links | 200
  POST /api/projects/:id/access-links   | access-links:write | O M | 3 | -                         | 201
  DELETE /api/project-access-links/:id  | access-links:write | O M | 3 | -                         | 204
  POST /api/project-access-links/redeem | -                  | -   | 3 | -                         | 201`;

const BODIES: Bodies = {
  'QUERY /api/projects/:id/access-links': () => ({}),
  'POST /api/projects/:id/access-links': () => ({ role: 'PROJECT_REVIEWER' }),
  'POST /api/project-access-links/redeem': async ({ people }, { projectId: id }) => {
    const { accessLinks } = people[MAKER].client;
    const link = await accessLinks.create({ params: { id }, body: { role: 'PROJECT_REVIEWER' } });
    return { accessKey: (await accessLinks.get({ params: { id: link.data.id } })).data.accessKey };
  },
};

onEachDatabase((house) => {
  describe('create', () => {
    test('answers 201 with the id only, without the key', async () => {
      const body = json({ role: 'PROJECT_MEMBER' });
      const path = `/api/projects/${house().projectId}/access-links`;
      const response = await house().request('owner', 'POST', path, body);
      expect([response.status, await response.json()]).toEqual([201, { data: { id: expect.stringMatching(UUID_7) } }]);
    });

    test.each(['PROJECT_MEMBER', 'PROJECT_REVIEWER', 'PROJECT_RESTRICTED_REVIEWER'] satisfies LinkRole[])(
      'a link can grant %s',
      async (role) => {
        expect((await read(house(), await newLink(house(), { role }))).role).toBe(role);
      },
    );

    test.each([
      ['PROJECT_OWNER', { role: 'PROJECT_OWNER' }, '/role'],
      ['PROJECT_MANAGER', { role: 'PROJECT_MANAGER' }, '/role'],
      ['no role', {}, '/role'],
      ['a null role', { role: null }, '/role'],
      ['a key of the caller', { role: 'PROJECT_MEMBER', accessKey: 'chosen' }, '/accessKey'],
      ['a day without a time', { role: 'PROJECT_MEMBER', expiresAt: '2099-01-01' }, '/expiresAt'],
      ['an ISO 8601 time', { role: 'PROJECT_MEMBER', expiresAt: '2099-01-01T00:00:00.000000' }, '/expiresAt'],
      ['a day that no calendar has', { role: 'PROJECT_MEMBER', expiresAt: '2099-02-30 00:00:00.000000' }, '/expiresAt'],
    ])('%s is 400', async (_, body, pointer) => {
      const path = `/api/projects/${house().projectId}/access-links`;
      const response = await house().request('owner', 'POST', path, json(body));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer }] });
    });

    test.each([
      ['', ''],
      ['a'.repeat(1024), 'a'.repeat(1025)],
      [WIDE.repeat(1024), WIDE.repeat(1025)],
    ])('a description has at most 1024 characters: %.12s', async (edge, past) => {
      expect((await read(house(), await newLink(house(), { description: edge }))).description).toBe(edge);
      if (past === '') return;
      const problem = await refusal(newLink(house(), { description: past }), 'INVALID_REQUEST');
      expect(errorsOf(problem)).toEqual(['/description TOO_LONG']);
    });

    test.each([
      ['left out', {}],
      ['null', { description: null, expiresAt: null }],
    ])('description and expiresAt that are %s are null', async (_, fields) => {
      const projectId = await newProject(house());
      await newLink(house(), fields, projectId);
      const { data } = await linksOf(house()).list({ params: { id: projectId }, body: {} });
      expect(data).toMatchObject([{ description: null, expiresAt: null }]);
    });

    test('an expiry in the past is 400 and creates no link', async () => {
      const projectId = await newProject(house());
      const problem = await refusal(newLink(house(), { expiresAt: secondsFromNow(-1) }, projectId), 'INVALID_REQUEST');
      expect(errorsOf(problem)).toEqual(['/expiresAt IN_THE_PAST']);
      expect((await linksOf(house()).list({ params: { id: projectId }, body: {} })).data).toEqual([]);
    });

    test('one idempotency key creates one link', async () => {
      const projectId = await newProject(house());
      const body = json({ role: 'PROJECT_MEMBER' }, { 'idempotency-key': 'one' });
      const send = () => house().request('owner', 'POST', `/api/projects/${projectId}/access-links`, body);
      const first = await (await send()).json();
      expect(await (await send()).json()).toEqual(first);
      expect((await linksOf(house()).list({ params: { id: projectId }, body: {} })).data).toHaveLength(1);
    });
  });

  describe('get', () => {
    test('answers exactly the fields of the API reference, without the expiry', async () => {
      const id = await newLink(house(), { description: 'For the agency', expiresAt: IN_AN_HOUR() });
      expect(await (await house().request('owner', 'GET', `/api/project-access-links/${id}`)).json()).toEqual({
        data: {
          id,
          accessKey: expect.stringMatching(KEY),
          description: 'For the agency',
          role: 'PROJECT_REVIEWER',
          createdAt: expect.stringMatching(RECORD_TIME),
        },
      });
    });

    test('an expired link can still be read', async () => {
      const id = await newLink(house());
      await house()
        .deps.db.updateTable('access_links')
        .set({ expires_at: secondsFromNow(-1) })
        .where('id', '=', id)
        .execute();
      expect((await read(house(), id)).id).toBe(id);
    });

    test('each link has its own key, which does not change', async () => {
      const [one, other] = [await newLink(house()), await newLink(house())];
      const { accessKey } = await read(house(), one);
      expect((await read(house(), other)).accessKey).not.toBe(accessKey);
      expect((await read(house(), one)).accessKey).toBe(accessKey);
    });
  });

  describe('the key', () => {
    test('is null without access-links:read.key, in get and in list', async () => {
      const projectId = await newProject(house());
      const id = await newLink(house(), {}, projectId);
      const { client } = await house().withScopes(
        'owner',
        SCOPES.filter((scope) => scope !== 'access-links:read.key'),
      );
      expect((await client.accessLinks.get({ params: { id } })).data.accessKey).toBeNull();
      const { data } = await client.accessLinks.list({ params: { id: projectId }, body: {} });
      expect(data).toMatchObject([{ id, accessKey: null }]);
    });

    test('is shown with both scopes, the same in get and in list', async () => {
      const projectId = await newProject(house());
      const id = await newLink(house(), {}, projectId);
      const { client } = await house().withScopes('owner', ['access-links:read', 'access-links:read.key']);
      const { accessKey } = (await client.accessLinks.get({ params: { id } })).data;
      expect(accessKey).toMatch(KEY);
      const { data } = await client.accessLinks.list({ params: { id: projectId }, body: {} });
      expect(data).toMatchObject([{ id, accessKey }]);
    });

    test('is not readable with access-links:read.key alone', async () => {
      const id = await newLink(house());
      const { client } = await house().withScopes('owner', ['access-links:read.key', 'access-links:write']);
      await refusal(client.accessLinks.get({ params: { id } }), 'INSUFFICIENT_SCOPE');
    });

    test('is in no table, even after it was redeemed with an idempotency key', async () => {
      const { db } = house().deps;
      const id = await newLink(house());
      const { accessKey } = await read(house(), id);
      const body = json({ accessKey }, { 'idempotency-key': `"${id}"` });
      expect((await house().request('owner', 'POST', '/api/project-access-links/redeem', body)).status).toBe(201);
      const stored = JSON.stringify([
        await db.selectFrom('access_links').selectAll().execute(),
        await db.selectFrom('idempotency_keys').selectAll().execute(),
        await db.selectFrom('project_members').selectAll().execute(),
      ]);
      expect(stored).toContain(id);
      expect(stored).not.toContain(accessKey);
    });

    test.each(['altered', "another link's"])('that is %s in the table is never shown', async (how) => {
      const id = await newLink(house(), {}, await newProject(house()));
      const { sealed_key: own } = await storedLink(house(), id);
      const { sealed_key: other } = await storedLink(house(), await newLink(house()));
      const sealed = how === 'altered' ? `${own.slice(0, -8)}${own.at(-8) === 'A' ? 'B' : 'A'}${own.slice(-7)}` : other;
      await house().deps.db.updateTable('access_links').set({ sealed_key: sealed }).where('id', '=', id).execute();
      expect((await read(house(), id)).accessKey).toBeNull();
    });
  });

  describe('list', () => {
    test('returns pages of 50, newest first, and back', async () => {
      const projectId = await newProject(house());
      const made: string[] = [];
      for (let count = 0; count < 51; count++) made.unshift(await newLink(house(), {}, projectId));
      const list = (body: { next?: string; prev?: string }) =>
        linksOf(house()).list({ params: { id: projectId }, body });
      const first = await list({});
      expect(first.data.map(({ id }) => id)).toEqual(made.slice(0, 50));
      expect(first.page).toEqual({ next: expect.any(String), prev: null });
      const second = await list({ next: first.page.next ?? '' });
      expect(second.data.map(({ id }) => id)).toEqual(made.slice(50));
      expect(second.page).toEqual({ next: null, prev: expect.any(String) });
      expect((await list({ prev: second.page.prev ?? '' })).data).toEqual(first.data);

      const another = await newProject(house());
      const elsewhere = linksOf(house()).list({ params: { id: another }, body: { next: first.page.next ?? '' } });
      await refusal(elsewhere, 'INVALID_CURSOR');
    });

    test('adds the expiry to the record', async () => {
      const projectId = await newProject(house());
      const expiresAt = IN_AN_HOUR();
      const id = await newLink(house(), { description: 'Soon over', expiresAt }, projectId);
      const { data } = await linksOf(house()).list({ params: { id: projectId }, body: {} });
      expect(data).toEqual([{ ...(await read(house(), id)), expiresAt }]);
    });

    test('shows the links of that project only', async () => {
      const projectId = await newProject(house());
      await newLink(house());
      expect(await linksOf(house()).list({ params: { id: projectId }, body: {} })).toEqual({
        data: [],
        page: { next: null, prev: null },
      });
    });

    test.each([
      ['an unknown field', { keyword: 'a' }, '/keyword'],
      ['both cursors', { next: 'a', prev: 'b' }, '/prev'],
    ])('with %s is 400', async (_, body, pointer) => {
      const path = `/api/projects/${house().projectId}/access-links`;
      const response = await house().request('owner', 'QUERY', path, json(body));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer }] });
    });
  });

  test('delete answers 204, and the link is 404', async () => {
    const id = await newLink(house());
    const response = await house().request('owner', 'DELETE', `/api/project-access-links/${id}`);
    expect([response.status, await response.text()]).toEqual([204, '']);
    await refusal(read(house(), id), 'NOT_FOUND');
  });

  describe('permissions', () => {
    const calls = (client: Client, projectId: string, id: string) => ({
      list: () => client.accessLinks.list({ params: { id: projectId }, body: {} }),
      create: () => client.accessLinks.create({ params: { id: projectId }, body: { role: 'PROJECT_MEMBER' } }),
      get: () => client.accessLinks.get({ params: { id } }),
      delete: () => client.accessLinks.delete({ params: { id } }),
    });
    type Verb = keyof ReturnType<typeof calls>;
    const verbs: Verb[] = ['list', 'create', 'get', 'delete'];

    test.each(verbs)('%s: Owner and Manager', async (verb) => {
      for (const name of ['owner', 'manager'] satisfies PersonName[]) {
        const call = calls(house().people[name].client, house().projectId, await newLink(house()))[verb];
        await expect(call()).resolves.not.toThrow();
      }
    });

    test.each(verbs)('%s: no Member, Reviewer or Restricted Reviewer', async (verb) => {
      const id = await newLink(house());
      for (const name of ['member', 'reviewer', 'restricted'] satisfies PersonName[]) {
        await refusal(calls(house().people[name].client, house().projectId, id)[verb](), 'INSUFFICIENT_ROLE');
      }
    });

    test.each(verbs)('%s: 404 to non-members and for an unknown id', async (verb) => {
      const id = await newLink(house());
      for (const name of ['stranger', 'foreigner'] satisfies PersonName[]) {
        await refusal(calls(house().people[name].client, house().projectId, id)[verb](), 'NOT_FOUND');
      }
      await refusal(calls(house().people.owner.client, UNKNOWN, UNKNOWN)[verb](), 'NOT_FOUND');
      await refusal(calls(house().people.owner.client, 'no-uuid', 'no-uuid')[verb](), 'NOT_FOUND');
    });

    test.each([
      ['list', 'access-links:read'],
      ['get', 'access-links:read'],
      ['create', 'access-links:write'],
      ['delete', 'access-links:write'],
    ] satisfies [Verb, Scope][])('%s needs %s and nothing else', async (verb, scope) => {
      const id = await newLink(house());
      const others = SCOPES.filter((other) => other !== scope);
      const lacking = await house().withScopes('owner', others);
      await refusal(calls(lacking.client, house().projectId, id)[verb](), 'INSUFFICIENT_SCOPE');
      const holding = await house().withScopes('owner', [scope]);
      await calls(holding.client, house().projectId, id)[verb]();
    });

    test('while the project is being deleted, links can be read but not created or deleted', async () => {
      const projectId = await newProject(house());
      const id = await newLink(house(), {}, projectId);
      await house().people.owner.client.projects.delete({ params: { id: projectId } });
      const { list, get, create, delete: remove } = calls(house().people.owner.client, projectId, id);
      await list();
      await get();
      await refusal(create(), 'PROJECT_DELETING');
      await refusal(remove(), 'PROJECT_DELETING');
    });
  });

  testAccess(house, 'accessLinks', ACCESS, BODIES);
});
