import { createHash } from 'node:crypto';
import { createClient } from '@review/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIALECTS, type House, openHouse, refusal } from '../../test/house.ts';
import { newcomer, newProject } from '../../test/people.ts';
import { startServer } from '../../test/server-process.ts';

const [OLD, NEW] = ['the secret of last year, 32 characters', 'the secret of this year, 32 characters'];

describe.each(DIALECTS)('%s', (dialect) => {
  let house: House & AsyncDisposable;
  beforeAll(async () => {
    house = await openHouse(dialect, { SECRET_KEY: OLD });
  });
  afterAll(() => house[Symbol.asyncDispose]());

  /** A link of a new project, created with the old secret. */
  async function oldLink() {
    const { client } = house.people.owner;
    const projectId = await newProject(house.people.owner);
    const { data } = await client.accessLinks.create({ params: { id: projectId }, body: { role: 'PROJECT_REVIEWER' } });
    const { accessKey } = (await client.accessLinks.get({ params: data })).data;
    return { projectId, id: data.id, accessKey: String(accessKey) };
  }

  const at = (url: string, { key }: { key: string }) => createClient({ baseUrl: url, token: key, retries: 0 });
  const serve = (settings: Record<string, string>) =>
    startServer({ DATABASE_URL: house.databaseUrl, LOG_LEVEL: 'info', ...settings });
  const hashOf = async (id: string) =>
    (await house.deps.db.selectFrom('access_links').select('key_hash').where('id', '=', id).executeTakeFirstOrThrow())
      .key_hash;

  test('with another SECRET_KEY links show no key and cannot be redeemed', async () => {
    const { projectId, id, accessKey } = await oldLink();
    await using server = await serve({ SECRET_KEY: NEW });
    const { accessLinks } = at(server.url, house.people.owner);
    expect((await accessLinks.get({ params: { id } })).data.accessKey).toBeNull();
    const { data } = await accessLinks.list({ params: { id: projectId }, body: {} });
    expect(data).toMatchObject([{ id, accessKey: null }]);
    const stranger = at(server.url, await newcomer(house));
    await refusal(stranger.accessLinks.redeem({ body: { accessKey } }), 'NOT_FOUND');
    await accessLinks.delete({ params: { id } });
  });

  test('with SECRET_KEY_PREVIOUS older links, cursors and signed URLs still work', async () => {
    const { projectId, id, accessKey } = await oldLink();
    const { client } = house.people.owner;
    for (let count = 0; count < 50; count++) {
      await client.accessLinks.create({ params: { id: projectId }, body: { role: 'PROJECT_REVIEWER' } });
    }
    const { page } = await client.accessLinks.list({ params: { id: projectId }, body: {} });
    const upload = { params: { id: projectId }, body: { name: 'a.txt', size: 1 } };
    const [part] = (await client.files.startUpload(upload)).data.parts;
    const oldHash = await hashOf(id);
    {
      await using server = await serve({
        SECRET_KEY: NEW,
        SECRET_KEY_PREVIOUS: OLD,
        STORAGE_URL: house.deps.config.storageUrl,
      });
      const { accessLinks } = at(server.url, house.people.owner);
      expect((await accessLinks.get({ params: { id } })).data.accessKey).toBe(accessKey);
      await at(server.url, await newcomer(house)).accessLinks.redeem({ body: { accessKey } });
      const next = await accessLinks.list({ params: { id: projectId }, body: { next: String(page.next) } });
      expect(next.data.map((link) => link.id)).toEqual([id]);
      const { pathname, search } = new URL(part?.url ?? '');
      expect((await fetch(server.url + pathname + search, { method: 'PUT', body: 'a' })).status).toBe(200);
      expect(await hashOf(id)).not.toBe(oldHash);
    }
    // The start has re-encrypted every link, so that the old secret is not needed for them.
    await using server = await serve({ SECRET_KEY: NEW });
    expect((await at(server.url, house.people.owner).accessLinks.get({ params: { id } })).data.accessKey).toBe(
      accessKey,
    );
    await at(server.url, await newcomer(house)).accessLinks.redeem({ body: { accessKey } });
    expect((await client.members.list({ params: { id: projectId } })).data).toHaveLength(3);
  });

  test('links that an earlier release hashed without a secret keep working after the upgrade', async () => {
    const { id, projectId, accessKey } = await oldLink();
    const key_hash = createHash('sha256').update(accessKey).digest('hex');
    await house.deps.db.updateTable('access_links').set({ key_hash }).where('id', '=', id).execute();
    await using server = await serve({ SECRET_KEY: OLD });
    await at(server.url, await newcomer(house)).accessLinks.redeem({ body: { accessKey } });
    expect((await house.people.owner.client.members.list({ params: { id: projectId } })).data).toHaveLength(2);
    expect(await hashOf(id)).not.toBe(key_hash);
  });

  test('a copy of the database cannot verify a key', async () => {
    const { id, accessKey } = await oldLink();
    const stored = JSON.stringify(
      await house.deps.db.selectFrom('access_links').selectAll().where('id', '=', id).execute(),
    );
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      expect(stored).not.toContain(createHash('sha256').update(accessKey).digest(encoding));
    }
  });
});
