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
  withStorage(work: (opened: { db: Database; storage: Storage; log: Logger }) => Promise<void>): Promise<void>;
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
      withDatabase(async ({ db }, { storageUrl }) => {
        const unused = { publicUrl: 'http://localhost', signingKeys: [createSecretKey(randomBytes(32))] } as const;
        const { openStorage } = await import('../storage/open.ts');
        await using storage = openStorage({ storageUrl, ...unused });
        output.note(`Storage: ${storageUrl}`);
        await work({ db, storage, log });
      }),
    async withDeps(work) {
      const config = readConfig(environment);
      announce(output, config.database, false);
      const { openDeps } = await import('../open-deps.ts');
      await using deps = openDeps(config, log);
      await work(deps);
    },
  };
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
function nameOf(address: DatabaseAddress): string {
  if (address.dialect === 'sqlite') return `sqlite:${resolve(address.path)}`;
  const { protocol, username, host, pathname } = new URL(address.url);
  return `${protocol}//${username && `${username}@`}${host}${pathname}`;
}
