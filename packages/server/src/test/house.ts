import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiProblem, type Client, createClient } from '@review/client';
import { type ProjectRole, SCOPES, type Scope } from '@review/contract';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePort } from '../../../../scripts/free-port.ts';
import { insertWorkspace, joinWorkspace } from '../accounts/queries.ts';
import { createApp } from '../app.ts';
import { readConfig } from '../config/config.ts';
import { issueKey } from '../credentials/issue.ts';
import { migrate } from '../db/migrate.ts';
import { openDatabase } from '../db/open.ts';
import type { Deps } from '../deps.ts';
import { listen } from '../listen.ts';
import { openDeps } from '../open-deps.ts';
import { createDatabase, testDatabases } from './postgres.ts';

const ALL_DIALECTS = ['sqlite', 'postgres'] as const;
export type Dialect = (typeof ALL_DIALECTS)[number];
/** Those that this run is on. */
export const DIALECTS: readonly Dialect[] = ALL_DIALECTS.filter((dialect) => testDatabases.includes(dialect));

/** A test of Postgres itself. Skipped if the run is on SQLite only. */
export const postgresTest = test.runIf(DIALECTS.includes('postgres'));

/** A member of each role in one project, a non-member of the same workspace, and a person of another workspace. */
export const PEOPLE = {
  owner: 'PROJECT_OWNER',
  manager: 'PROJECT_MANAGER',
  member: 'PROJECT_MEMBER',
  reviewer: 'PROJECT_REVIEWER',
  restricted: 'PROJECT_RESTRICTED_REVIEWER',
  stranger: null,
  foreigner: null,
} as const satisfies Record<string, ProjectRole | null>;
export type PersonName = keyof typeof PEOPLE;

export interface Person {
  userId: string;
  workspaceId: string;
  key: string;
  client: Client;
}

/** The real app on a new database, with people who can call it. */
export interface House {
  dialect: Dialect;
  deps: Deps;
  url: string;
  databaseUrl: string;
  workspaceId: string;
  projectId: string;
  people: Record<PersonName, Person>;
  /** Another credential of the same person, with fewer scopes. */
  withScopes(person: PersonName, scopes: readonly Scope[]): Promise<Person>;
  /** Sends a request with the person's key that the typed client would refuse. */
  request(person: PersonName | null, method: string, path: string, init?: RequestInit): Promise<Response>;
}

type Settings = Record<string, string>;

/** Runs the tests on each database, with one house per database and file. */
export function onEachDatabase(tests: (house: () => House) => void, settings: Settings = {}): void {
  describe.each(DIALECTS)('%s', (dialect) => {
    let opened: (House & AsyncDisposable) | undefined;
    beforeAll(async () => {
      opened = await openHouse(dialect, settings);
    });
    afterAll(async () => {
      await opened?.[Symbol.asyncDispose]();
    });
    tests(() => {
      if (opened === undefined) throw new Error('the house is not open yet');
      return opened;
    });
  });
}

export async function openHouse(dialect: Dialect, settings: Settings = {}): Promise<House & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), 'review-house-'));
  const postgres = dialect === 'postgres' ? await createDatabase(inject('postgresUrl')) : null;
  const databaseUrl = postgres?.url ?? `sqlite:${join(folder, 'review.db')}`;
  const port = Number(await freePort());
  const config = readConfig({
    DATA_DIR: folder,
    DATABASE_URL: databaseUrl,
    RATE_LIMITS: 'off',
    CONSOLE_DIR: 'off',
    LOG_LEVEL: 'error',
    // Signed URLs start with it.
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    ...settings,
  });
  if (dialect === 'sqlite') writeFileSync(join(folder, 'review.db'), await migratedSqlite());
  const deps = openDeps(config, pino({ level: config.logLevel }));
  // As fsync=off on Postgres: no test cuts the power.
  if (dialect === 'sqlite') await sql`pragma synchronous = off`.execute(deps.db);
  // Tests wait for their requests, so that only connections of aborted ones are left at the end.
  const listening = await listen(createApp(deps), { host: '127.0.0.1', port }, 0.1);
  const url = `http://127.0.0.1:${listening.port}`;

  const workspaceId = await insertWorkspace(deps.db, 'Studio');
  const otherWorkspaceId = await insertWorkspace(deps.db, 'Another studio');
  const admit = async (userId: string, inWorkspace: string, scopes: readonly Scope[] = SCOPES): Promise<Person> => {
    const { key } = await issueKey(deps.db, { workspaceId: inWorkspace, userId, scopes });
    return { userId, workspaceId: inWorkspace, key, client: createClient({ baseUrl: url, token: key, retries: 0 }) };
  };
  const invite = async (name: PersonName): Promise<Person> => {
    const inWorkspace = name === 'foreigner' ? otherWorkspaceId : workspaceId;
    const person = { workspaceId: inWorkspace, email: `${name}@example.com`, name: `The ${name}` };
    return admit(await deps.db.transaction().execute((trx) => joinWorkspace(trx, person)), inWorkspace);
  };
  const people: Record<PersonName, Person> = {
    owner: await invite('owner'),
    manager: await invite('manager'),
    member: await invite('member'),
    reviewer: await invite('reviewer'),
    restricted: await invite('restricted'),
    stranger: await invite('stranger'),
    foreigner: await invite('foreigner'),
  };
  const created = await people.owner.client.projects.create({
    body: {
      name: 'Film',
      members: [
        { user: { id: people.manager.userId }, role: 'PROJECT_MANAGER' },
        { user: { id: people.member.userId }, role: 'PROJECT_MEMBER' },
        { user: { id: people.reviewer.userId }, role: 'PROJECT_REVIEWER' },
        { user: { id: people.restricted.userId }, role: 'PROJECT_RESTRICTED_REVIEWER' },
      ],
    },
  });
  return {
    dialect,
    deps,
    url,
    databaseUrl,
    workspaceId,
    projectId: created.data.id,
    people,
    withScopes: (name, scopes) => admit(people[name].userId, people[name].workspaceId, scopes),
    request: (name, method, path, init = {}) =>
      fetch(url + path, {
        method,
        ...init,
        headers: { ...(name && { authorization: `Bearer ${people[name].key}` }), ...init.headers },
      }),
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await deps[Symbol.asyncDispose]();
      await postgres?.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

let sqliteTemplate: Promise<Buffer> | undefined;

/** Returns the content of a migrated SQLite database, which is made once per process. */
function migratedSqlite(): Promise<Buffer> {
  sqliteTemplate ??= migrateSqlite();
  return sqliteTemplate;
}

async function migrateSqlite(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'review-template-'));
  const path = join(folder, 'review.db');
  try {
    const opened = openDatabase({ dialect: 'sqlite', path }, () => {});
    await migrate(opened);
    // Closing moves everything from the write-ahead log into the file.
    await opened[Symbol.asyncDispose]();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The body of a JSON request, for `house.request`. */
export const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
});

/** Expects the call to be refused with that code, and returns the problem. */
export async function refusal(call: Promise<unknown>, code: string): Promise<ApiProblem> {
  const outcome = await call.then(
    () => ({ code: 'nothing was refused' }),
    (problem: ApiProblem) => problem,
  );
  expect(outcome).toMatchObject({ code });
  return outcome as ApiProblem;
}
