import type { SelectQueryBuilder } from 'kysely';
import { isPostgres } from './prepared.ts';
import type { Database } from './schema.ts';

/**
 * Locks the rows of a query until the transaction ends. SQLite has one transaction at a time, so that nothing is to be locked. An
 * update that changes nothing would lock rows on both, but SQLite checks all rows that refer to an updated key.
 */
export const locked = <DB, Tables extends keyof DB, Row>(
  db: Database,
  rows: SelectQueryBuilder<DB, Tables, Row>,
): SelectQueryBuilder<DB, Tables, Row> => (isPostgres(db) ? rows.forNoKeyUpdate() : rows);
