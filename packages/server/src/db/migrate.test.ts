import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { createDatabase } from '../test/postgres.ts';
import { runFile, startServer } from '../test/server-process.ts';
import { migrate } from './migrate.ts';
import { type DatabaseAddress, openDatabase } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'review-migrate-'));
const made = new AsyncDisposableStack();
made.defer(() => rmSync(folder, { recursive: true, force: true }));
afterAll(() => made.disposeAsync());
let databases = 0;

const EMPTY = {
  sqlite: async () => {
    const path = join(folder, `${++databases}.db`);
    const address: DatabaseAddress = { dialect: 'sqlite', path };
    return { address, url: `sqlite:${path}` };
  },
  postgres: async () => {
    const { url } = made.use(await createDatabase(inject('postgresUrl'), 'template1'));
    const address: DatabaseAddress = { dialect: 'postgres', url, connections: 2 };
    return { address, url };
  },
};

describe.each(Object.entries(EMPTY))('%s', (_, emptyDatabase) => {
  test('running again applies nothing', async () => {
    const { address } = await emptyDatabase();
    await using opened = openDatabase(address, () => {});
    expect(await migrate(opened)).toContain('0001-foundation');
    expect(await migrate(opened)).toEqual([]);
  });

  test('three servers that start at once on an empty database all come up, and one of them migrated', async () => {
    const { url } = await emptyDatabase();
    const start = () => startServer({ DATABASE_URL: url });
    const servers = await Promise.all([start(), start(), start()]);
    const finished = await Promise.all(
      servers.map(async (server) => {
        await using running = server;
        expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
        running.process.kill('SIGTERM');
        return await running.finished;
      }),
    );
    expect(finished.map(({ code, errors }) => [code, errors])).toEqual(Array(3).fill([0, '']));
    expect(finished.filter(({ output }) => output.includes('"applied":["0001-foundation"'))).toHaveLength(1);
  });

  test('a command that migrates beside a running server applies nothing and disturbs nothing', async () => {
    const { url } = await emptyDatabase();
    await using server = await startServer({ DATABASE_URL: url });
    await using command = runFile('commands/main.ts', { DATABASE_URL: url }, ['migrate', '--json']);
    const { code, output } = await command.finished;
    expect([code, JSON.parse(output)]).toEqual([0, { applied: [] }]);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});
