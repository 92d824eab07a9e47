import { createSecretKey, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Environment } from '@review/contract/settings';
import { destination, type Logger, pino } from 'pino';
import { type CommandSettings, readCommandSettings, readConfig } from '../config/config.ts';
import type { DatabaseAddress, OpenDatabase } from '../db/database.ts';
import { openDatabase } from '../db/open.ts';
import type { Database } from '../db/schema.ts';
import type { Deps } from '../deps.ts';
import { describeError } from '../describe-error.ts';
import type { Storage } from '../storage/storage.ts';
import { CommandError, type Output } from './output.ts';

// Commands import the server's modules on demand, because most commands need none and then start in half the time.
const log = pino({ level: 'warn', serializers: { err: describeError } }, destination(2));

/** What a command works with. Each part is closed when the work ends. */
export interface Data {
  /** Runs a command on the server's database. Needs only the settings of the database and the storage. */
  withDatabase(
    work: (opened: OpenDatabase, settings: CommandSettings) => Promise<void>,
    options?: { mayCreate?: boolean },
  ): Promise<void>;
  /** As `withDatabase`, with the storage. Signs no URLs, so that it needs neither PUBLIC_URL nor SECRET_KEY. */
  withStorage(
    work: (opened: { address: DatabaseAddress; db: Database; storage: Storage; log: Logger }) => Promise<void>,
  ): Promise<void>;
  /** As `withStorage`, without opening the database, which may not exist yet. */
  withStorageOnly(work: (opened: { address: DatabaseAddress; storage: Storage }) => Promise<void>): Promise<void>;
  /** Runs a command with all dependencies of the server, including its secrets. */
  withDeps(work: (deps: Deps) => Promise<void>): Promise<void>;
}

export function openData(environment: Environment, output: Output): Data {
  const withDatabase: Data['withDatabase'] = async (work, { mayCreate = false } = {}) => {
    const settings = readCommandSettings(environment);
    announce(output, settings.database, mayCreate);
    await using opened = openDatabase(settings.database, (error) =>
      log.warn({ err: error }, 'database connection lost'),
    );
    await work(opened, settings);
  };
  return {
    withDatabase,
    withStorage: (work) =>
      withDatabase(async ({ address, db }, { storageUrl }) => {
        await using storage = await openCommandStorage(storageUrl, output);
        await work({ address, db, storage, log });
      }),
    async withStorageOnly(work) {
      const { database: address, storageUrl } = readCommandSettings(environment);
      output.note(`Database: ${nameOf(address)}`);
      await using storage = await openCommandStorage(storageUrl, output);
      await work({ address, storage });
    },
    async withDeps(work) {
      const config = readConfig(environment);
      announce(output, config.database, false);
      const { openDeps } = await import('../open-deps.ts');
      await using deps = openDeps(config, log);
      await work(deps);
    },
  };
}

async function openCommandStorage(storageUrl: string, output: Output): Promise<Storage & AsyncDisposable> {
  const unused = { publicUrl: 'http://localhost', signingKeys: [createSecretKey(randomBytes(32))] } as const;
  const { openStorage } = await import('../storage/open.ts');
  output.note(`Storage: ${storageUrl}`);
  return openStorage({ storageUrl, ...unused });
}

/** Prints the address of the database, so that the user notices a wrong one. */
function announce(output: Output, address: DatabaseAddress, mayCreate: boolean): void {
  const name = nameOf(address);
  if (address.dialect === 'sqlite' && !mayCreate && !existsSync(address.path)) {
    throw new CommandError(
      `There is no database at ${name}. Set DATABASE_URL (or name the server's settings with --env-file or REVIEW_ENV_FILE), or create one there with \`review migrate\`.`,
    );
  }
  output.note(`Database: ${name}`);
}

/** The address without the password. */
export function nameOf(address: DatabaseAddress): string {
  if (address.dialect === 'sqlite') return `sqlite:${resolve(address.path)}`;
  const { protocol, username, host, pathname } = new URL(address.url);
  return `${protocol}//${username && `${username}@`}${host}${pathname}`;
}
