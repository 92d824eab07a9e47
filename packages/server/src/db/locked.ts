import type { SelectQueryBuilder } from 'kysely';
import { isPostgres } from './prepared.ts';
import type { Database } from './schema.ts';

/**
 * Locks the rows of a query until the transaction ends. SQLite has one transaction at a time and needs no lock. An update that
 * changes nothing would lock rows on both databases, but SQLite then checks all rows that refer to the updated key.
 */
export const locked = <DB, Tables extends keyof DB, Row>(
  db: Database,
  rows: SelectQueryBuilder<DB, Tables, Row>,
): SelectQueryBuilder<DB, Tables, Row> => (isPostgres(db) ? rows.forNoKeyUpdate() : rows);
