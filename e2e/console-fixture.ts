import { resolve } from 'node:path';
import { SCOPES, type Scope } from '@review/contract';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { findUser } from '../packages/server/src/accounts/queries.ts';
import { hashApiKey } from '../packages/server/src/credentials/api-key.ts';
import { issueKey } from '../packages/server/src/credentials/issue.ts';
import { now } from '../packages/server/src/db/time.ts';
import { testDatabases } from '../packages/server/src/test/postgres.ts';
import { lacksChromium, openBrowser } from './browser.ts';
import { type Backends, Service, type Settings } from './service.ts';
import { type BrowserOptions, Visit } from './visit.ts';

const CONSOLE_DIR = resolve(import.meta.dirname, '../apps/dev-console/dist');
export const OWNER = 'olive@demo.example';
export const REVIEWER = 'rui@demo.example';

/** Runs the tests with one console fixture per file: a service with the console, and a browser. */
export function inConsole(
  name: string,
  tests: (fixture: () => ConsoleFixture) => void,
  settings: Settings = {},
  database: Database = 'sqlite',
): void {
  describe.skipIf(lacksChromium())(name, { timeout: 240_000 }, () => {
    let opened: ConsoleFixture | undefined;
    beforeAll(async () => {
      opened = await ConsoleFixture.open(settings, database === 'postgres' ? { postgres: inject('postgresUrl') } : {});
    });
    afterAll(async () => {
      await opened?.[Symbol.asyncDispose]();
    });
    tests(() => {
      if (opened === undefined) throw new Error('the console fixture is available only inside tests');
      return opened;
    });
  });
}

type Database = 'sqlite' | 'postgres';

/** Runs the tests on each database of this run. */
export function inConsoleOnEachDatabase(
  name: string,
  tests: (fixture: () => ConsoleFixture, database: Database) => void,
): void {
  for (const database of ['sqlite', 'postgres'] as const) {
    if (!testDatabases.includes(database)) continue;
    inConsole(`${name} on ${database}`, (fixture) => tests(fixture, database), {}, database);
  }
}

/** A server with the built console, a worker, and a browser. */
class ConsoleFixture implements AsyncDisposable {
  readonly service: Service;
  readonly #browser: Browser;

  private constructor(service: Service, browser: Browser) {
    this.service = service;
    this.#browser = browser;
  }

  static async open(settings: Settings, backends: Backends): Promise<ConsoleFixture> {
    const [service, browser] = await Promise.all([
      Service.start({ CONSOLE_DIR, ...settings }, backends, 'demo'),
      openBrowser(),
    ]);
    await service.startWorker('console');
    return new ConsoleFixture(service, browser);
  }

  /** Opens a browser context, signed in as the owner unless `key` is another key or null. */
  visit({ key = this.service.key, ...options }: BrowserOptions = {}): Promise<Visit> {
    return Visit.begin(this.#browser, this.service.url, { key, ...options });
  }

  /** Issues a key for a user of the demo workspace. */
  async keyOf(email: string, scopes: readonly Scope[] = SCOPES): Promise<string> {
    const { client, database } = this.service;
    const { data } = await client.ping.ping();
    const userId = await findUser(database.db, email);
    if (userId === undefined) throw new Error(`the demo workspace has no user ${email}`);
    return (await issueKey(database.db, { workspaceId: data.workspace.id, userId, scopes })).key;
  }

  async revoke(key: string): Promise<void> {
    const keys = this.service.database.db.updateTable('api_keys').set({ revoked_at: now() });
    await keys.where('hash', '=', hashApiKey(key)).execute();
  }

  async newProject(name: string): Promise<string> {
    return (await this.service.client.projects.create({ body: { name } })).data.id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.service[Symbol.asyncDispose]();
  }
}

/** Submits the generate form, opens the run and returns the id of the new file. */
export async function generateByHand(page: Page, type: string, model: string, prompt: string): Promise<string> {
  await page.getByRole('radio', { name: type, exact: true }).check({ force: true });
  await page.getByRole('radio', { name: new RegExp(`^${model} (live|sandbox)`) }).check({ force: true });
  await page.getByRole('textbox', { name: 'Prompt' }).fill(prompt);
  await page.getByRole('main').getByRole('button', { name: 'Generate', exact: true }).click();
  await page.waitForURL(/results=/);
  const [id = ''] = /FX[0-9A-Z]{20}/.exec(new URL(page.url()).searchParams.get('results') ?? '') ?? [];
  await page.locator(`a[href="/runs/${id}"]`).click();
  await page.waitForURL(`**/runs/${id}`);
  return id;
}
