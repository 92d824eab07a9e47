import type { Database } from '../../db/schema.ts';

export const getWorkspace = (db: Database, id: string) =>
  db
    .selectFrom('workspaces')
    .select(['id', 'name', 'avatar_url as avatarUrl'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
