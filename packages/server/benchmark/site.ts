import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseAddress } from '../src/db/database.ts';
import { createDatabase, startPostgres } from '../src/test/postgres.ts';
import { Meter } from './measure.ts';
import { type Seeded, seed } from './seed.ts';

/** A seeded database and a folder for the processes that use it. */
export interface Site {
  folder: string;
  databaseUrl: string;
  address: DatabaseAddress;
  seeded: Seeded;
  meter: Meter;
}

/** Creates a database with that many comments: on the Postgres server, or SQLite without one. */
export async function createSite(
  parent: string,
  postgresUrl: string | null,
  rows: number,
  disposed: AsyncDisposableStack,
): Promise<Site> {
  const folder = mkdtempSync(join(parent, 'site-'));
  const database = postgresUrl === null ? null : disposed.use(await createDatabase(postgresUrl, 'template0'));
  const path = join(folder, 'review.db');
  const address: DatabaseAddress = database
    ? { dialect: 'postgres', url: database.url, connections: 2 }
    : { dialect: 'sqlite', path };
  const seeded = await seed(address, rows);
  const meter = disposed.use(await Meter.open(database?.url));
  return { folder, databaseUrl: database?.url ?? `sqlite:${path}`, address, seeded, meter };
}

/** Creates a database of its own server and a temporary folder, which are deleted at the end. */
export async function createOwnSite(
  usesPostgres: boolean,
  rows: number,
  disposed: AsyncDisposableStack,
): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'review-benchmark-'));
  disposed.defer(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = usesPostgres ? await startPostgres({ durable: true }) : null;
  if (postgres !== null) disposed.defer(postgres.stop);
  return createSite(folder, postgres?.url ?? null, rows, disposed);
}
