import { items } from '@review/client';
import { PROJECT_ROLES, SCOPES } from '@review/contract';
import { describe, expect, test } from 'vitest';
import { secondsFromNow } from '../../db/time.ts';
import { json, onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import {
  KINDS,
  newFolder,
  newProject,
  putParts,
  RECORD_TIME,
  START_SCOPES,
  start,
  startedBy,
  startPath,
} from './test/uploads.ts';

const WIDE = '\u{1F3AC}';
const LIMIT = 50_000;

onEachDatabase(
  (house) => {
    describe.each(KINDS)('start %s', (kind) => {
      const client = () => house().people.owner.client;
      const send = (person: PersonName, body: unknown, headers: Record<string, string> = {}) =>
        house().request(person, 'POST', startPath(kind, house().projectId), json(body, headers));

      test('answers 201 with the id, signed parts and the expiry only', async () => {
        const response = await send('owner', { name: 'clip.bin', size: 2500 });
        expect([response.status, await response.json()]).toEqual([
          201,
          {
            data: {
              id: expect.stringMatching(new RegExp(`^${kind}[0-9A-HJKMNP-TV-Z]{20}$`)),
              parts: [
                { partNumber: 1, size: 1250, url: expect.stringContaining(`${house().url}/`) },
                { partNumber: 2, size: 1250, url: expect.stringContaining('signature=') },
              ],
              expiresAt: expect.stringMatching(RECORD_TIME),
            },
          },
        ]);
      });

      test('an upload can be finished for 24 hours', async () => {
        const [before, { expiresAt }, after] = [
          secondsFromNow(86_400),
          await start(client(), kind, house().projectId),
          secondsFromNow(86_400),
        ];
        expect(before <= expiresAt && expiresAt <= after).toBe(true);
      });

      test.each([
        ['1 character', 'a'],
        ['255 characters', 'a'.repeat(255)],
        ['255 code points of two units', WIDE.repeat(255)],
        ['spaces and other scripts', ' Fünf % שלום.mp4'],
      ])('a name of %s is accepted', async (_, name) => {
        expect((await send('owner', { name, size: 1 })).status).toBe(201);
      });

      test.each([
        ['an empty name', '', 'TOO_SHORT'],
        ['a name of 256 characters', 'a'.repeat(256), 'TOO_LONG'],
        ['a name of 256 code points', WIDE.repeat(256), 'TOO_LONG'],
        ['a slash', 'a/b', undefined],
        ['a backslash', 'a\\b', undefined],
        ['a way out', '../../etc/passwd', undefined],
        ['a line break', 'a\nb', undefined],
        ['DEL', 'a\u007f', undefined],
        ['a C1 control', 'a\u0085', undefined],
        ['NUL', 'a\0', 'INVALID_TEXT'],
        ['half a surrogate pair', 'a\ud83c', 'INVALID_TEXT'],
      ])('%s is 400', async (_, name, code) => {
        const response = await send('owner', { name, size: 1 });
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ errors: [{ pointer: '/name', ...(code && { code }) }] });
      });

      test.each([0, -1, 1.5, LIMIT + 1, Number.MAX_SAFE_INTEGER, '10', null])('size %s is 400', async (size) => {
        const response = await send('owner', { name: 'a', size });
        expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer: '/size' }] }]);
      });

      test.each([1, LIMIT])('size %i is accepted', async (size) => {
        const { parts } = await start(client(), kind, house().projectId, { size });
        expect(parts.reduce((sum, part) => sum + part.size, 0)).toBe(size);
      });

      test.each([
        ['an empty mimeType', { mimeType: '' }, '/mimeType'],
        ['a mimeType of 256 characters', { mimeType: 'a'.repeat(256) }, '/mimeType'],
        ['an unknown field', { sise: 1 }, '/sise'],
      ])('%s is 400', async (_, field, pointer) => {
        const response = await send('owner', { name: 'a', size: 1, ...field });
        expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer }] }]);
      });

      test('a mimeType of 255 characters is accepted', async () => {
        expect((await send('owner', { name: 'a', size: 1, mimeType: 'a'.repeat(255) })).status).toBe(201);
      });

      test('each role is allowed or refused as specified', async () => {
        const roles = ['owner', 'manager', 'member', 'reviewer', 'restricted'] as const;
        const statuses = await Promise.all(
          roles.map(async (name) => (await send(name, { name: 'a', size: 1 })).status),
        );
        expect(PROJECT_ROLES).toHaveLength(roles.length);
        expect(statuses).toEqual(kind === 'CA' ? [201, 201, 201, 201, 201] : [201, 201, 201, 403, 403]);
      });

      test.each(['stranger', 'foreigner'] as const)('the project does not exist for a %s', async (name) => {
        expect((await send(name, { name: 'a', size: 1 })).status).toBe(404);
      });

      test(`the scope ${START_SCOPES[kind]} is needed, and no other`, async () => {
        const all = await house().withScopes('owner', [START_SCOPES[kind]]);
        await start(all.client, kind, house().projectId);
        const others = await house().withScopes(
          'owner',
          SCOPES.filter((scope) => scope !== START_SCOPES[kind]),
        );
        await refusal(start(others.client, kind, house().projectId), 'INSUFFICIENT_SCOPE');
      });

      test('a project that is being deleted refuses uploads', async () => {
        const projectId = await newProject(house());
        await client().projects.delete({ params: { id: projectId } });
        await refusal(start(client(), kind, projectId), 'PROJECT_DELETING');
      });

      test('a repeated idempotency key returns the same upload, with working URLs', async () => {
        const headers = { 'idempotency-key': `start-${kind}` };
        const asked = { name: 'a.bin', size: 3 };
        const first = await startedBy(send('owner', asked, headers));
        const again = await send('owner', asked, headers);
        expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
        const second = await startedBy(Promise.resolve(again));
        expect(second).toMatchObject({ id: first.id, expiresAt: first.expiresAt });
        for (const { parts } of [first, second]) await putParts({ ...first, parts }, Buffer.from('abc'));
      });

      test('the stored response contains no signed URL', async () => {
        const asked = { name: 'a.bin', size: 3 };
        const { id } = await startedBy(send('owner', asked, { 'idempotency-key': `stored-${kind}` }));
        const rows = await house().deps.db.selectFrom('idempotency_keys').select('response').execute();
        const stored = rows.map((row) => row.response ?? '');
        expect(stored.some((response) => response.includes(id))).toBe(true);
        expect(stored.filter((response) => /signature|http|blobs/.test(response))).toEqual([]);
      });

      test('20 concurrent requests with one idempotency key start one upload', async () => {
        const name = `at-once-${kind}`;
        const body = { name, size: 1 };
        const statuses = await Promise.all(
          Array.from({ length: 20 }, async () => (await send('owner', body, { 'idempotency-key': name })).status),
        );
        expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
        expect(statuses).toContain(201);
        const rows = await house().deps.db.selectFrom('uploads').select('id').where('name', '=', name).execute();
        expect(rows).toHaveLength(1);
      });
    });

    describe('folder', () => {
      const send = (kind: (typeof KINDS)[number], folder: unknown) =>
        house().request('owner', 'POST', startPath(kind, house().projectId), json({ name: 'a', size: 1, folder }));

      test('a file is put into it', async () => {
        const folder = { id: await newFolder(house()) };
        const { id } = await startedBy(send('FX', folder));
        const file = await house().people.owner.client.files.get({ params: { id } });
        expect(file.data.folder).toEqual(folder);
      });

      test('null is the root of the project', async () => {
        const { id } = await startedBy(send('FX', null));
        expect((await house().people.owner.client.files.get({ params: { id } })).data.folder).toBeNull();
      });

      test.each(['CA', 'GA'] as const)('%s takes none: 400', async (kind) => {
        const response = await send(kind, { id: await newFolder(house()) });
        expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer: '/folder' }] }]);
      });

      test('one of another project is 422 and creates no file', async () => {
        const elsewhere = await newFolder(house(), await newProject(house()));
        const files = async () => {
          let count = 0;
          const { list } = house().people.owner.client.files;
          for await (const _ of items(list, { params: { id: house().projectId } })) count++;
          return count;
        };
        const before = await files();
        const response = await send('FX', { id: elsewhere });
        expect([response.status, await response.json()]).toMatchObject([
          422,
          { code: 'REFERENCE_NOT_FOUND', errors: [{ pointer: '/folder/id' }] },
        ]);
        expect(await files()).toBe(before);
      });

      test('a malformed id is 400', async () => {
        const response = await send('FX', { id: 'FX00000000000000000000' });
        expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer: '/folder/id' }] }]);
      });
    });
  },
  { UPLOAD_PART_SIZE: '1000', UPLOAD_LIMIT: String(LIMIT) },
);
