import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { destination, type Logger, pino } from 'pino';
import { type CommandSettings, loadEnvironment, readCommandSettings, readConfig } from '../config/config.ts';
import type { DatabaseAddress, OpenDatabase } from '../db/database.ts';
import { openDatabase } from '../db/open.ts';
import type { Database } from '../db/schema.ts';
import type { Deps } from '../deps.ts';
import { describeError } from '../describe-error.ts';
import type { Storage } from '../storage/storage.ts';
import { CommandError } from './output.ts';

// The server's own modules are imported by the commands that use them: most commands need none and start in half the time.
const log = pino({ level: 'warn', serializers: { err: describeError } }, destination(2));

/** Runs a command on the database of the server, beside it; needs no other setting than where the data is. */
export async function withDatabase(
  work: (opened: OpenDatabase, settings: CommandSettings) => Promise<void>,
  { mayCreate = false } = {},
): Promise<void> {
  const settings = readCommandSettings(loadEnvironment());
  announce(settings.database, mayCreate);
  await using opened = openDatabase(settings.database, (error) => log.warn({ err: error }, 'a connection broke'));
  await work(opened, settings);
}

/** As `withDatabase`, with the storage. No URL is signed, so that neither the address nor the secret of the server is needed. */
export const withStorage = (
  work: (opened: { db: Database; storage: Storage; log: Logger }) => Promise<void>,
): Promise<void> =>
  withDatabase(async ({ db }, { storageUrl }) => {
    const unused = { publicUrl: 'http://localhost', signingKeys: [randomBytes(32)] } as const;
    const { openStorage } = await import('../storage/open.ts');
    await using storage = openStorage({ storageUrl, ...unused });
    process.stderr.write(`Storage: ${storageUrl}\n`);
    await work({ db, storage, log });
  });

/** For the commands that need the whole service, with its secrets. */
export async function withDeps(work: (deps: Deps) => Promise<void>): Promise<void> {
  const config = readConfig(loadEnvironment());
  announce(config.database, false);
  const { openDeps } = await import('../open-deps.ts');
  await using deps = openDeps(config, log);
  await work(deps);
}

/** Prints which database is used, so that a wrong one is noticed. */
function announce(address: DatabaseAddress, mayCreate: boolean): void {
  const name = nameOf(address);
  if (address.dialect === 'sqlite' && !mayCreate && !existsSync(address.path)) {
    throw new CommandError(
      `There is no database at ${name}. Set DATABASE_URL (or name the server's settings with --env-file or REVIEW_ENV_FILE), or create one there with \`review migrate\`.`,
    );
  }
  process.stderr.write(`Database: ${name}\n`);
}

/** Without the password. */
function nameOf(address: DatabaseAddress): string {
  if (address.dialect === 'sqlite') return `sqlite:${resolve(address.path)}`;
  const { protocol, username, host, pathname } = new URL(address.url);
  return `${protocol}//${username && `${username}@`}${host}${pathname}`;
}
