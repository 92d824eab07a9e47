import { sql } from 'kysely';
import { parseJson } from '../db/json.ts';
import type { Database } from '../db/schema.ts';

const UUID_LENGTH = 36;

/** Returns the keys that a file, a rendition, an upload, the result of a running generation or a pending deletion references. */
export async function findNamedKeys(db: Database, keys: readonly string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const named = await db
    .selectFrom('files')
    .select('storage_key as key')
    .where('storage_key', 'in', keys)
    .unionAll(db.selectFrom('uploads').select('storage_key as key').where('storage_key', 'in', keys))
    .unionAll(db.selectFrom('renditions').select('storage_key as key').where('storage_key', 'in', keys))
    .unionAll(db.selectFrom('pending_blob_deletions').select('storage_key as key').where('storage_key', 'in', keys))
    .execute();
  // A result's key is the id of its file and a UUID.
  const fileIds = keys.filter((key) => key.length > UUID_LENGTH).map((key) => key.slice(0, -UUID_LENGTH - 1));
  const results =
    fileIds.length === 0
      ? []
      : await db
          .selectFrom('generations')
          .select('result')
          .where('file_id', 'in', fileIds)
          .where('result', 'is not', null)
          .execute();
  return new Set([
    ...named.map(({ key }) => key ?? ''),
    ...results.map(({ result }) => parseJson(result)?.storageKey ?? ''),
  ]);
}

/** Returns the uploads that an unfinished upload or a pending deletion references. */
export async function findNamedUploads(db: Database, uploads: readonly string[]): Promise<Set<string>> {
  if (uploads.length === 0) return new Set();
  const named = await db
    .selectFrom('uploads')
    .select('storage_upload as upload')
    .where('storage_upload', 'in', uploads)
    .where('completed_with', 'is', null)
    .unionAll(
      db.selectFrom('pending_blob_deletions').select('storage_upload as upload').where('storage_upload', 'in', uploads),
    )
    .execute();
  return new Set(named.map(({ upload }) => upload ?? ''));
}

export interface NamedObject {
  /** The id of the file or attachment, or the key of a rendition. */
  id: string;
  key: string;
  size: number;
  /** Null or missing if it is not computed yet. */
  sha256?: string | null;
}

/** The objects of files with content, ordered by id. */
export async function listFileObjects(db: Database, afterId: string, limit: number): Promise<NamedObject[]> {
  const rows = await db
    .selectFrom('files')
    .select(['id', 'storage_key', 'size', 'sha256'])
    .where('id', '>', afterId)
    .where('status', '=', 'UPLOADED')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id, storage_key: key, size, sha256 }) => ({ id, key: key ?? '', size: size ?? 0, sha256 }));
}

/** The stored results of generations that have not ended, ordered by the id of the file. */
export async function listResultObjects(db: Database, afterId: string, limit: number): Promise<NamedObject[]> {
  const rows = await db
    .selectFrom('generations')
    .select(['file_id', 'result'])
    .where('file_id', '>', afterId)
    .where('result', 'is not', null)
    .where('finished_at', 'is', null)
    .orderBy('file_id')
    .limit(limit)
    .execute();
  return rows.flatMap(({ file_id: id, result }) => {
    const stored = parseJson(result);
    return stored === null ? [] : [{ id, key: stored.storageKey, size: stored.size, sha256: stored.sha256 }];
  });
}

/** The objects of renditions, ordered by key, which identifies them. */
export async function listRenditionObjects(db: Database, afterId: string, limit: number): Promise<NamedObject[]> {
  return db
    .selectFrom('renditions')
    .select(['storage_key as id', 'storage_key as key', 'size'])
    .where('storage_key', '>', afterId)
    .orderBy('storage_key')
    .limit(limit)
    .execute();
}

/** The objects of completed attachments, ordered by id. */
export async function listAttachmentObjects(db: Database, afterId: string, limit: number): Promise<NamedObject[]> {
  return (
    db
      .selectFrom('uploads')
      .select(['id', 'storage_key as key', 'size'])
      .where('id', '>', afterId)
      .where('completed_with', 'is not', null)
      // `listFileObjects` lists the objects of completed files.
      .where(sql<string>`substr(id, 1, 2)`, '<>', 'FX')
      .orderBy('id')
      .limit(limit)
      .execute()
  );
}
