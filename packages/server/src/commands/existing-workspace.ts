import { Uuid } from '@review/contract';
import type { Database } from '../db/schema.ts';
import { CommandError } from './output.ts';

/** Returns the id of the workspace in `--workspace`. */
export async function existingWorkspace(db: Database, id: string): Promise<string> {
  const row = await db
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', Uuid.safeParse(id).data ?? '')
    .executeTakeFirst();
  if (row === undefined) throw new CommandError(`--workspace: there is no workspace ${id}`);
  return row.id;
}
