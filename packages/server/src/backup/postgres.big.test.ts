import { hash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, items, upload } from '@review/client';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { freePort } from '../../../../scripts/free-port.ts';
import { lacking } from '../../../../scripts/testing.ts';
import type { Demo } from '../commands/demo.ts';
import { eventually } from '../test/eventually.ts';
import { findInstalledPostgres, startInstalledPostgres, startOnCopy } from '../test/installed-postgres.ts';
import { review, reviewJson } from '../test/review.ts';
import { startServer } from '../test/server-process.ts';

const programs = findInstalledPostgres();

/** The commands of the block of the guide that starts with these words. */
function documented(words: string): string[] {
  const guide = readFileSync(new URL('../../../../docs/self-hosting.md', import.meta.url), 'utf8');
  const block = guide.split('```').find((text) => text.startsWith(`sh\n${words}`));
  return block?.trim().split('\n').slice(1) ?? [];
}

const isLacking = !programs && lacking('a Postgres server with pg_dump', 'on Debian: apt install postgresql');

test.skipIf(isLacking)(
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

test.skipIf(isLacking)(
  'a project that was deleted by mistake is back after a recovery to the moment before, by the commands of the guide',
  async () => {
    await using postgres = await startInstalledPostgres(programs ?? '');
    const folder = mkdtempSync(join(tmpdir(), 'review-recovery-'));
    // Postgres runs as another user.
    chmodSync(folder, 0o755);
    await using cleanUp = new AsyncDisposableStack();
    cleanUp.defer(() => rmSync(folder, { recursive: true }));
    const settingsFor = async (url: string, storage: string) => {
      const port = await freePort();
      return {
        DATABASE_URL: url,
        STORAGE_URL: `file:${join(folder, storage)}`,
        SECRET_KEY: 's'.repeat(32),
        PORT: port,
        PUBLIC_URL: `http://127.0.0.1:${port}`,
      };
    };
    const run = async (line: string, settings: Record<string, string>) => {
      const command = line.replaceAll('/backups/wal', postgres.wal).replaceAll('/backups', folder);
      const [, words] = /^npm run review -- (.*)$/.exec(command) ?? [];
      return words === undefined
        ? await postgres.run(command, settings)
        : await reviewJson(settings, ...words.split(' '));
    };

    const original = await settingsFor(await postgres.createDatabase('original'), 'original');
    await using server = await startServer(original);
    const { people, projects } = await reviewJson<Demo>(original, 'demo');
    const token = people[0]?.key ?? '';
    const params = { id: projects[0]?.id ?? '' };
    const client = createClient({ baseUrl: server.url, token });
    const acknowledged = new Map<string, string>();
    const add = async (name: string) => {
      const source = randomBytes(20_000);
      const { id } = await upload(client, { to: { project: params.id }, source, name });
      acknowledged.set(id, hash('sha256', source));
    };

    let isOver = false;
    const load = async () => {
      for (let index = 0; !isOver; index++) await add(`load-${index}.bin`);
    };
    const loaded = Promise.all([load(), load()]);
    const [baseBackup = '', storageBackup = ''] = documented('pg_basebackup');
    await run(baseBackup, original);
    // These are in the write-ahead log alone.
    for (let index = 0; index < 5; index++) await add(`after-${index}.bin`);
    isOver = true;
    await loaded;
    expect(await run(storageBackup, original)).toMatchObject({ database: null, faulty: [] });

    const [moment] = await postgres.query('select clock_timestamp()::text as now');
    await client.projects.delete({ params });
    await postgres.query(`update projects set deletes_at = created_at where id = '${params.id}'`, 'original');
    await reviewJson(original, 'sweep');
    await expect(client.projects.get({ params })).rejects.toMatchObject({ status: 404 });
    const [last] = await postgres.query('select pg_walfile_name(pg_current_wal_lsn()) as file, pg_switch_wal()');
    const { now: RECOVER_TO, file } = z
      .object({ now: z.string(), file: z.string() })
      .parse({ ...Object(moment), ...Object(last) });
    await eventually(async () => existsSync(join(postgres.wal, file)), 'the write-ahead log is archived');

    const PGDATA = join(folder, 'recovered');
    for (const line of documented('cp -a /backups/base')) await run(line, { PGDATA, RECOVER_TO });
    await using recovered = await startOnCopy(programs ?? '', PGDATA);
    const restored = await settingsFor(recovered.urlOf('original'), 'restored');
    expect(await reviewJson(restored, 'restore', join(folder, 'review'))).toMatchObject({ faulty: [] });
    expect(await reviewJson(restored, 'storage', 'check')).toMatchObject({ damaged: { count: 0 } });
    const findings: { name: string; status: string }[] = JSON.parse(
      (await review(restored, 'doctor', '--json')).output,
    );
    // No worker runs here.
    expect(findings.filter(({ name, status }) => status === 'failed' && name !== 'workers')).toEqual([]);

    await using restarted = await startServer(restored);
    const after = createClient({ baseUrl: restarted.url, token });
    expect((await after.projects.get({ params })).data.deletesAt).toBeNull();
    expect(acknowledged.size).toBeGreaterThan(5);
    for (const [id, digest] of acknowledged) {
      const { url } = (await after.files.download({ params: { id } })).data;
      expect(hash('sha256', Buffer.from(await (await fetch(url)).arrayBuffer()))).toBe(digest);
    }
  },
);
