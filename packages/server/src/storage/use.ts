import { sql } from 'kysely';
import type { Database } from '../db/schema.ts';

/** Bytes of a workspace in the storage. */
export interface StorageUse {
  files: number;
  trash: number;
  renditions: number;
  /** Of comments and generations. */
  attachments: number;
  /** The declared sizes of uploads that are not completed. */
  unfinished: number;
}

export const NO_USE: StorageUse = { files: 0, trash: 0, renditions: 0, attachments: 0, unfinished: 0 };

/** Returns the bytes that are stored. Parts of unfinished uploads may be stored or not. */
export const totalOf = ({ files, trash, renditions, attachments }: StorageUse): number =>
  files + trash + renditions + attachments;

/** Returns what the rows of each workspace refer to, by its id. */
export async function sumUse(db: Database): Promise<Map<string, StorageUse>> {
  const use = new Map<string, StorageUse>();
  const add = (rows: { workspace_id: string; kind: keyof StorageUse; bytes: number }[]) => {
    for (const { workspace_id: id, kind, bytes } of rows) use.set(id, { ...(use.get(id) ?? NO_USE), [kind]: bytes });
  };
  const bytes = (column: string) => sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`.as('bytes');
  add(
    await db
      .selectFrom('files as file')
      .innerJoin('projects as project', 'project.id', 'file.project_id')
      .select(['project.workspace_id', bytes('file.size')])
      .select(sql<'files' | 'trash'>`case when file.trashed_at is null then 'files' else 'trash' end`.as('kind'))
      .where('file.storage_key', 'is not', null)
      .groupBy(['project.workspace_id', 'kind'])
      .execute(),
  );
  add(
    await db
      .selectFrom('renditions as rendition')
      .innerJoin('files as file', 'file.id', 'rendition.file_id')
      .innerJoin('projects as project', 'project.id', 'file.project_id')
      .select(['project.workspace_id', sql.lit<'renditions'>('renditions').as('kind'), bytes('rendition.size')])
      .groupBy('project.workspace_id')
      .execute(),
  );
  add(
    await db
      .selectFrom('uploads as upload')
      .innerJoin('projects as project', 'project.id', 'upload.project_id')
      .select(['project.workspace_id', bytes('upload.size')])
      .select(
        sql<
          'attachments' | 'unfinished'
        >`case when upload.completed_with is null then 'unfinished' else 'attachments' end`.as('kind'),
      )
      // The bytes of a completed file belong to the file.
      .where((eb) => eb.or([eb('upload.completed_with', 'is', null), eb(sql`substr(upload.id, 1, 2)`, '<>', 'FX')]))
      .groupBy(['project.workspace_id', 'kind'])
      .execute(),
  );
  return use;
}
