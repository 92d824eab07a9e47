import { describe, expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { RECORD_TIME, sha256, start, uploadFile } from '../uploads/test/uploads.ts';

const bytes = Buffer.from('# Cut 3\n');

onEachDatabase(
  (house) => {
    const client = () => house().people.owner.client;
    const get = (id: string, headers: Record<string, string> = {}) =>
      house().request('reviewer', 'GET', `/api/files/${id}`, { headers });
    const hashed = (id: string) => expect.poll(async () => (await client().files.get({ params: { id } })).data.sha256);

    describe('the record', () => {
      test('of an unfinished upload has exactly the specified fields', async () => {
        const { id } = await start(client(), 'FX', house().projectId, { name: 'Schnitt 3.mp4', mimeType: 'video/mp4' });
        expect(await (await get(id)).json()).toEqual({
          data: {
            id,
            name: 'Schnitt 3.mp4',
            description: null,
            mode: 'UPLOADED',
            status: 'UPLOADING',
            tag: 'NEED_REVIEW',
            mimeType: null,
            size: null,
            sha256: null,
            allowRestricted: false,
            project: { id: house().projectId },
            folder: null,
            createdBy: { id: house().people.owner.userId },
            generation: null,
            media: null,
            thumbnailUrl: null,
            renditions: [],
            createdAt: expect.stringMatching(RECORD_TIME),
            updatedAt: expect.stringMatching(RECORD_TIME),
          },
        });
      });

      test('of a completed upload has status, type and size', async () => {
        const id = await uploadFile(house(), bytes, { mimeType: 'text/markdown' }, 'member');
        const { data } = await client().files.get({ params: { id } });
        expect(data).toMatchObject({
          status: 'UPLOADED',
          mimeType: 'text/markdown',
          size: bytes.length,
          mode: 'UPLOADED',
        });
        expect(data.createdBy).toEqual({ id: house().people.member.userId });
        expect(data.updatedAt > data.createdAt).toBe(true);
      });

      test('has the sha256 after background hashing', async () => {
        await hashed(await uploadFile(house(), bytes)).toBe(sha256(bytes));
      });

      test('is 404 where the id is unknown, malformed, or of another kind', async () => {
        for (const id of ['FX00000000000000000000', 'FX0', 'nothing', `CA${'0'.repeat(20)}`, house().projectId]) {
          expect((await get(id)).status, id).toBe(404);
        }
      });

      test('needs files:read', async () => {
        const id = await uploadFile(house());
        const other = await house().withScopes('owner', ['files:write', 'files:download', 'projects:read']);
        await refusal(other.client.files.get({ params: { id } }), 'INSUFFICIENT_SCOPE');
      });

      test('is 404 to non-members', async () => {
        const id = await uploadFile(house());
        for (const person of ['stranger', 'foreigner'] as const) {
          await refusal(house().people[person].client.files.get({ params: { id } }), 'NOT_FOUND');
        }
      });
    });

    test('the generation of a plain upload is 404', async () => {
      const id = await uploadFile(house());
      await refusal(client().files.getGeneration({ params: { id } }), 'NOT_FOUND');
    });

    describe('ETag', () => {
      const tagOf = async (id: string) => (await get(id)).headers.get('etag') ?? '';

      test('If-None-Match with it gets 304 without a body', async () => {
        const { id } = await start(client(), 'FX', house().projectId);
        const tag = await tagOf(id);
        expect(tag).toMatch(/^"[\w-]+"$/);
        for (const named of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
          const response = await get(id, { 'if-none-match': named });
          expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', tag]);
        }
      });

      test('If-None-Match with another gets the record', async () => {
        const { id } = await start(client(), 'FX', house().projectId);
        expect((await get(id, { 'if-none-match': '"other"' })).status).toBe(200);
      });

      test('a 304 does not count against the rate limit', async () => {
        const { id } = await start(client(), 'FX', house().projectId);
        const remaining = (response: Response) => Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
        const tag = await tagOf(id);
        const first = remaining(await get(id));
        for (let again = 0; again < 3; again++) {
          expect(remaining(await get(id, { 'if-none-match': tag }))).toBe(first);
        }
        expect(remaining(await get(id))).toBe(first - 1);
      });

      test('it changes with the record, and only then', async () => {
        const id = await uploadFile(house(), bytes);
        await hashed(id).not.toBeNull();
        const tag = await tagOf(id);
        expect(await tagOf(id)).toBe(tag);
        await client().files.update({ params: { id }, body: { description: 'Final' } });
        const described = await tagOf(id);
        expect(described).not.toBe(tag);
        await client().files.setTag({ params: { id }, body: { tag: 'APPROVED' } });
        expect([tag, described]).not.toContain(await tagOf(id));
      });
    });
  },
  { RATE_LIMITS: 'tier-4=1000,tier-3=1000' },
);
