import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, items, upload } from '@review/client';
import { expect, test } from 'vitest';
import { freePort } from '../../../../scripts/free-port.ts';
import { lacking } from '../../../../scripts/testing.ts';
import type { Demo } from '../commands/demo.ts';
import { findInstalledPostgres, startInstalledPostgres } from '../test/installed-postgres.ts';
import { reviewJson } from '../test/review.ts';
import { startServer } from '../test/server-process.ts';

const programs = findInstalledPostgres();

/** The commands of the block of the guide that starts with these words. */
function documented(words: string): string[] {
  const guide = readFileSync(new URL('../../../../docs/self-hosting.md', import.meta.url), 'utf8');
  const block = guide.split('```').find((text) => text.startsWith(`sh\n${words}`));
  return block?.trim().split('\n').slice(1) ?? [];
}

test.skipIf(!programs && lacking('a Postgres server with pg_dump', 'on Debian: apt install postgresql'))(
  'a dump and a backup of the storage that are made under load are restored by the commands of the guide',
  async () => {
    await using postgres = await startInstalledPostgres(programs ?? '');
    const folder = mkdtempSync(join(tmpdir(), 'review-drill-'));
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.defer(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'backups'));
    const place = async (name: string) => {
      const port = await freePort();
      return {
        DATABASE_URL: await postgres.createDatabase(name),
        STORAGE_URL: `file:${join(folder, name)}`,
        SECRET_KEY: 's'.repeat(32),
        PORT: port,
        PUBLIC_URL: `http://127.0.0.1:${port}`,
      };
    };
    const run = async (line: string, settings: Record<string, string>) => {
      const command = line.replaceAll('/backups/review', join(folder, 'backups'));
      const [, words] = /^npm run review -- (.*)$/.exec(command) ?? [];
      if (words !== undefined) return await reviewJson(settings, ...words.split(' '));
      return await postgres.run(command, settings);
    };

    const original = await place('original');
    await using server = await startServer(original);
    const { people, projects } = await reviewJson<Demo>(original, 'demo');
    const token = people[0]?.key ?? '';
    const params = { id: projects[0]?.id ?? '' };
    const client = createClient({ baseUrl: server.url, token });
    const acknowledged = new Map<string, Buffer>();
    const add = async (name: string) => {
      const source = randomBytes(20_000);
      const { id } = await upload(client, { to: { project: params.id }, source, name });
      await client.comments.createOnFile({ params: { id }, body: { content: name } });
      return { id, source };
    };
    for (let index = 0; index < 10; index++) {
      const { id, source } = await add(`before-${index}.bin`);
      acknowledged.set(id, source);
    }
    let isOver = false;
    const load = async () => {
      for (let index = 0; !isOver; index++) await add(`during-${index}.bin`);
    };
    const loaded = Promise.all([load(), load()]);
    const [dump = '', backUp = ''] = documented('pg_dump');
    await run(dump, original);
    const created = await run(backUp, original).finally(() => {
      isOver = true;
    });
    await loaded;
    expect(created).toMatchObject({ database: null, faulty: [] });
    expect(readdirSync(join(folder, 'backups')).filter((name) => name.endsWith('.dump'))).toHaveLength(1);

    const restored = await place('restored');
    const outcomes: unknown[] = [];
    for (const line of documented('pg_restore')) outcomes.push(await run(line, restored));
    expect(outcomes).toMatchObject(['', { faulty: [] }, { damaged: { count: 0 } }]);
    await using restarted = await startServer(restored);
    const after = createClient({ baseUrl: restarted.url, token });
    const bytesOf = async (id: string) =>
      Buffer.from(await (await fetch((await after.files.download({ params: { id } })).data.url)).arrayBuffer());
    for (const [id, source] of acknowledged) {
      expect((await bytesOf(id)).equals(source)).toBe(true);
      const comments = await after.comments.listOnFile({ params: { id }, body: {} });
      expect(comments.data).toMatchObject([{ content: expect.stringMatching(/^before-/) }]);
    }
    for await (const { id, status, size } of items(after.files.list, { params })) {
      if (status === 'UPLOADED') expect((await bytesOf(id)).length).toBe(size);
    }
    expect(await after.comments.create({ params, body: { content: 'After' } })).toHaveProperty('data.id');
  },
);
