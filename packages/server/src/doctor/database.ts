import { sql } from 'kysely';
import { listMigrations } from '../db/migrate.ts';
import { type Check, failed, ok, warning } from './finding.ts';

export const checkDatabase: Check = async ({ opened }) =>
  (await opened.isReachable())
    ? [ok(`The database answers (${opened.dialect}).`)]
    : [
        failed(
          'The database does not answer.',
          'Start it, and compare DATABASE_URL with its host, port, user and password.',
        ),
      ];

export const checkMigrations: Check = async ({ db }) => {
  const { applied, pending, newer } = await listMigrations(db).catch(() => ({ applied: [], pending: [], newer: [] }));
  if (applied.length === 0)
    return [failed('The database has no schema.', 'Run `review migrate`, or start the server once.')];
  if (pending.length > 0)
    return [
      failed(
        `Migrations are pending: ${pending.join(', ')}.`,
        'Run `review migrate`, or restart a server of this release.',
      ),
    ];
  if (newer.length > 0)
    return [
      warning(
        `The schema is of a newer release: it has ${newer.join(', ')}.`,
        'Upgrade this server too, unless you are rolling back.',
      ),
    ];
  return [ok(`The schema is at ${applied.at(-1)}.`)];
};

/** Each process has its pool and a connection for probes, and the supervisor of several processes has them too. */
export const checkConnections: Check = async ({ config: { database, processes }, db }) => {
  if (database.dialect === 'sqlite') return [];
  const needed = (database.connections + 1) * (processes === 1 ? 1 : processes + 1);
  const { rows } = await sql<{ allowed: number }>`select current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int as allowed`.execute(db);
  const allowed = rows[0]?.allowed ?? 0;
  if (needed <= allowed) return [ok(`This server opens up to ${needed} of ${allowed} connections.`)];
  return [
    failed(
      `This server opens up to ${needed} connections, and Postgres allows ${allowed}.`,
      'Lower DATABASE_CONNECTIONS or SERVER_PROCESSES, or raise max_connections of Postgres.',
    ),
  ];
};
