import { randomBytes } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { NoSuchObject } from '../../storage/storage.ts';
import { json, onEachDatabase, type PersonName, refusal } from '../../test/house.ts';
import {
  complete,
  completePath,
  KINDS,
  newProject,
  type Part,
  put,
  putParts,
  sent,
  sha256,
  start,
  storedBytes,
} from './test/uploads.ts';

const MIB = 1024 * 1024;
const WIDE = '\u{1F3AC}';

onEachDatabase(
  (house) => {
    describe.each(KINDS)('complete %s', (kind) => {
      const client = () => house().people.owner.client;
      const bytes = randomBytes(3000);
      const ready = () => sent(client(), kind, house().projectId, bytes);
      const send = (id: string, parts: unknown, person: PersonName = 'owner') =>
        house().request(person, 'POST', completePath(kind, id), json({ parts }));

      test('answers 204 without a body, and the content is stored', async () => {
        const { id, parts, sent } = await ready();
        expect(parts).toHaveLength(3);
        const response = await send(id, sent);
        expect([response.status, await response.text()]).toEqual([204, '']);
        expect((await storedBytes(house(), id)).equals(bytes)).toBe(true);
      });

      test('ETags are accepted with and without quotes, parts in any order', async () => {
        const { id, sent } = await ready();
        const [quoted, ...others] = sent;
        expect(quoted?.eTag).toMatch(/^".+"$/);
        const bare = others.map((part) => ({ ...part, eTag: part.eTag.replaceAll('"', '') })).reverse();
        await complete(client(), id, quoted ? [...bare, quoted] : bare);
        expect((await storedBytes(house(), id)).equals(bytes)).toBe(true);
      });

      const mismatches: [string, (sent: Part[]) => Part[]][] = [
        ['a wrong eTag', ([, ...others]) => [{ partNumber: 1, eTag: 'f'.repeat(32) }, ...others]],
        ['the eTag of another part', ([a, b, ...others]) => [a, { ...b, eTag: a?.eTag }, ...others] as Part[]],
        ['an eTag that leads elsewhere', ([, ...others]) => [{ partNumber: 1, eTag: '../../objects' }, ...others]],
        ['an eTag of Unicode', ([, ...others]) => [{ partNumber: 1, eTag: WIDE }, ...others]],
        ['a missing part', (sent) => sent.slice(1)],
        ['a repeated part', ([a, ...others]) => [a, a, ...others.slice(1)] as Part[]],
        ['a part named twice beside all others', (sent) => [...sent, sent[0]] as Part[]],
        ['an extra part', (sent) => [...sent, { partNumber: 4, eTag: 'f'.repeat(32) }]],
        ['part 10000', (sent) => [...sent, { partNumber: 10_000, eTag: 'f'.repeat(32) }]],
      ];
      test.each(mismatches)('%s is 422', async (_, altered) => {
        const { id, sent } = await ready();
        const response = await send(id, altered(sent));
        expect([response.status, await response.json()]).toMatchObject([422, { code: 'PARTS_MISMATCH' }]);
      });

      test('after wrong parts, the right ones still complete it', async () => {
        const { id, sent } = await ready();
        await refusal(complete(client(), id, sent.slice(1)), 'PARTS_MISMATCH');
        await refusal(complete(client(), id, [{ partNumber: 1, eTag: 'x' }, ...sent.slice(1)]), 'PARTS_MISMATCH');
        await complete(client(), id, sent);
        expect((await storedBytes(house(), id)).equals(bytes)).toBe(true);
      });

      test('a part that was never sent is 422', async () => {
        const started = await start(client(), kind, house().projectId, { size: 3000 });
        const sent = await putParts(started, bytes, started.parts.slice(0, 2));
        const invented = [...sent, { partNumber: 3, eTag: 'd41d8cd98f00b204e9800998ecf8427e' }];
        await refusal(complete(client(), started.id, invented), 'PARTS_MISMATCH');
      });

      test.each([999, 1001])('a part of 1000 bytes refuses %i', async (size) => {
        const { parts } = await start(client(), kind, house().projectId, { size: 2000 });
        const answer = await put(parts[0]?.url ?? '', randomBytes(size));
        expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'INVALID_REQUEST' }]);
      });

      test('a part sent again replaces the first one: the listed ETag must match', async () => {
        const started = await start(client(), kind, house().projectId, { size: 3000 });
        const old = await putParts(started, randomBytes(3000));
        const sent = await putParts(started, bytes);
        expect(old[0]?.eTag).not.toBe(sent[0]?.eTag);
        await complete(client(), started.id, sent);
        expect((await storedBytes(house(), started.id)).equals(bytes)).toBe(true);
      });

      test('the same again is 204, with or without quotes', async () => {
        const { id, sent } = await ready();
        const bare = sent.map((part) => ({ ...part, eTag: part.eTag.replaceAll('"', '') }));
        for (const parts of [sent, bare]) expect((await send(id, parts)).status).toBe(204);
      });

      test.each([
        ['fewer', (parts: Part[]) => parts.slice(1)],
        ['other eTags', (parts: Part[]) => parts.map((part) => ({ ...part, eTag: 'f'.repeat(32) }))],
      ])('other parts after completion are 409: %s', async (_, altered) => {
        const { id, sent } = await ready();
        await complete(client(), id, sent);
        await refusal(complete(client(), id, altered(sent)), 'UPLOAD_COMPLETED');
        expect((await storedBytes(house(), id)).equals(bytes)).toBe(true);
      });

      test('20 concurrent calls succeed, and the content is right', async () => {
        const { id, sent } = await ready();
        const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await send(id, sent)).status));
        expect(statuses).toEqual(Array(20).fill(204));
        expect((await storedBytes(house(), id)).equals(bytes)).toBe(true);
      });

      test('parts that were replaced are never acknowledged, not even after a crash before the commit', async () => {
        const started = await start(client(), kind, house().projectId, { size: 3000 });
        const replaced = await putParts(started, randomBytes(3000));
        const stored = await putParts(started, bytes);
        // The storage has made the object from these parts when the request fails.
        using crash = vi.spyOn(house().deps.storage, 'read').mockRejectedValueOnce(new Error('crashed'));
        await refusal(complete(client(), started.id, stored), 'INTERNAL');
        expect(crash).toHaveBeenCalledOnce();
        await refusal(complete(client(), started.id, replaced), 'UPLOAD_COMPLETED');
        expect((await storedBytes(house(), started.id)).equals(bytes)).toBe(true);
      });

      test('after a crash before the commit, the same complete again succeeds', async () => {
        const { id, sent } = await ready();
        using crash = vi.spyOn(house().deps.storage, 'read').mockRejectedValueOnce(new Error('crashed'));
        await refusal(complete(client(), id, sent), 'INTERNAL');
        expect(crash).toHaveBeenCalledOnce();
        await complete(client(), id, sent);
        expect((await storedBytes(house(), id)).equals(bytes)).toBe(true);
      });

      test('a blob that a sweep has deleted meanwhile is 409, not 500', async () => {
        const { id, sent } = await ready();
        const { storage } = house().deps;
        const read = storage.read.bind(storage);
        using _gone = vi.spyOn(storage, 'read').mockImplementation(async (key, range) => {
          if (key === id) throw new NoSuchObject('gone');
          return read(key, range);
        });
        await refusal(complete(client(), id, sent), 'UPLOAD_COMPLETED');
      });

      test('it is 404 to all but its starter', async () => {
        const { id, sent } = await ready();
        for (const person of ['manager', 'reviewer', 'restricted', 'stranger', 'foreigner'] as const) {
          expect((await send(id, sent, person)).status, person).toBe(404);
        }
        await complete(client(), id, sent);
      });

      test('a starter who lost the membership gets 404', async () => {
        const projectId = await newProject(house());
        const { userId, client: theirs } = house().people.stranger;
        const member = { user: { id: userId }, role: 'PROJECT_MEMBER' } as const;
        const added = await client().members.add({ params: { id: projectId }, body: { members: [member] } });
        const { id, sent: parts } = await sent(theirs, kind, projectId, bytes);
        await client().members.remove({ params: { id: added.data[0]?.id ?? '' } });
        await refusal(complete(theirs, id, parts), 'NOT_FOUND');
      });

      test('no scope is needed', async () => {
        const { id, sent } = await ready();
        await complete((await house().withScopes('owner', [])).client, id, sent);
        expect(sha256(await storedBytes(house(), id))).toBe(sha256(bytes));
      });

      test('in a project that is being deleted it is 409', async () => {
        const projectId = await newProject(house());
        const { id, sent: parts } = await sent(client(), kind, projectId, bytes);
        await client().projects.delete({ params: { id: projectId } });
        await refusal(complete(client(), id, parts), 'PROJECT_DELETING');
      });

      test('an id of another kind is 404', async () => {
        const { id, sent } = await ready();
        for (const other of KINDS.filter((name) => name !== kind)) {
          const response = await house().request('owner', 'POST', completePath(other, id), json({ parts: sent }));
          expect(response.status).toBe(404);
        }
      });
    });

    describe('validation of the parts', () => {
      const eTag = 'f'.repeat(32);
      const send = async (body: unknown) => {
        const { id } = await start(house().people.owner.client, 'CA', house().projectId);
        return house().request('owner', 'POST', completePath('CA', id), json(body));
      };

      test.each([
        ['no parts', {}, '/parts'],
        ['an empty list', { parts: [] }, '/parts'],
        ['partNumber 0', { parts: [{ partNumber: 0, eTag }] }, '/parts/0/partNumber'],
        ['partNumber 10001', { parts: [{ partNumber: 10_001, eTag }] }, '/parts/0/partNumber'],
        ['partNumber 1.5', { parts: [{ partNumber: 1.5, eTag }] }, '/parts/0/partNumber'],
        ['an empty eTag', { parts: [{ partNumber: 1, eTag: '' }] }, '/parts/0/eTag'],
        ['an eTag of 256 characters', { parts: [{ partNumber: 1, eTag: 'f'.repeat(256) }] }, '/parts/0/eTag'],
        ['an eTag of 256 code points', { parts: [{ partNumber: 1, eTag: WIDE.repeat(256) }] }, '/parts/0/eTag'],
        ['an unknown field', { parts: [{ partNumber: 1, eTag, size: 1 }] }, '/parts/0/size'],
      ])('%s is 400', async (_, body, pointer) => {
        const response = await send(body);
        expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer }] }]);
      });

      test.each([
        ['partNumber 1', { partNumber: 1, eTag }],
        ['partNumber 10000', { partNumber: 10_000, eTag }],
        ['an eTag of 1 character', { partNumber: 1, eTag: 'f' }],
        ['an eTag of 255 code points', { partNumber: 1, eTag: WIDE.repeat(255) }],
      ])('%s is well formed', async (_, part) => {
        expect((await send({ parts: [part] })).status).toBe(422);
      });

      /** JSON may be padded with white space: only the length counts. */
      const padded = (body: unknown, length: number) => JSON.stringify(body).padEnd(length);
      const headers = { 'content-type': 'application/json' };

      test.each(KINDS)('4 MiB are read to complete %s, one byte more is 413', async (kind) => {
        const { id, sent: parts } = await sent(house().people.owner.client, kind, house().projectId, randomBytes(10));
        const send = (length: number) =>
          house().request('owner', 'POST', completePath(kind, id), { body: padded({ parts }, length), headers });
        expect((await send(4 * MIB + 1)).status).toBe(413);
        expect((await send(4 * MIB)).status).toBe(204);
      });

      test('elsewhere 1 MiB is the limit', async () => {
        const path = `/api/projects/${house().projectId}/files/upload.multipart`;
        const send = (length: number) =>
          house().request('owner', 'POST', path, { body: padded({ name: 'a', size: 1 }, length), headers });
        expect((await send(MIB + 1)).status).toBe(413);
        expect((await send(MIB)).status).toBe(201);
      });
    });
  },
  { UPLOAD_PART_SIZE: '1000' },
);
