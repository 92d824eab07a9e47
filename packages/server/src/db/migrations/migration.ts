import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { OpenDatabase } from '../database.ts';

export type MigrationFor = (dialect: OpenDatabase['dialect']) => Migration;

/** The type of text columns, which sort by bytes on both databases. */
export const textType = (dialect: OpenDatabase['dialect']) =>
  dialect === 'postgres' ? sql`text collate "C"` : sql`text`;
