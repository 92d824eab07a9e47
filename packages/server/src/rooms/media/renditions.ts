import type { RenditionName } from '@review/contract';
import { type Insertable, sql } from 'kysely';
import { locked } from '../../db/locked.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Schema, Writer } from '../../db/schema.ts';
import { type PendingBlobDeletion, scheduleBlobDeletion } from '../uploads/queries.ts';

/** The upload of a rendition has its name as the id, so that the next attempt replaces it. */
export const uploadIdOf = (fileId: string, { kind, variant }: RenditionName): string =>
  `${uploadsOf(fileId)}${kind}:${variant}`;

const uploadsOf = (fileId: string) => `RN:${fileId}:`;
/** Follows all ids that begin with the same file. */
const afterUploadsOf = (fileId: string) => `RN:${fileId};`;

const deleteUploads = prepared.all((db, fileId: Param<string>) =>
  db
    .deleteFrom('uploads')
    .where('id', '>=', fileId.map(uploadsOf))
    .where('id', '<', fileId.map(afterUploadsOf))
    .returning(['storage_key as key', 'storage_upload as upload']),
);

/** Deletes the unfinished uploads of a file's renditions, schedules the deletion of their blobs, and returns them. */
export async function dropRenditionUploads(trx: Writer, fileId: string, at: string): Promise<PendingBlobDeletion[]> {
  const dropped = await deleteUploads(trx, fileId);
  await scheduleBlobDeletion(trx, dropped, at);
  return dropped;
}

export const listNames = prepared.all((db, { fileId, build }: Params<{ fileId: string; build: number }>) =>
  db.selectFrom('renditions').select(['kind', 'variant']).where('file_id', '=', fileId).where('build', '=', build),
);

const deleteNamed = prepared.all((db, { fileId, kind, variant }: Params<RenditionName & { fileId: string }>) =>
  db
    .deleteFrom('renditions')
    .where('file_id', '=', fileId)
    .where('kind', '=', kind)
    .where('variant', '=', variant)
    .returning('storage_key'),
);

const insertRow = prepared.run((db, rendition: Params<Insertable<Schema['renditions']>>) =>
  db.insertInto('renditions').values(rendition),
);

/** Adds a rendition in place of an earlier one of that name. */
export async function replaceRendition(
  trx: Writer,
  rendition: Insertable<Schema['renditions']>,
  at: string,
): Promise<void> {
  const { file_id: fileId, kind, variant } = rendition;
  const replaced = await deleteNamed(trx, { fileId, kind, variant });
  await scheduleKeys(trx, replaced, at);
  await insertRow(trx, rendition);
}

const deleteOthers = prepared.all((db, { fileId, build }: Params<{ fileId: string; build: number }>) =>
  db
    .deleteFrom('renditions')
    .where('file_id', '=', fileId)
    .where('build', '<>', build)
    .returning(['storage_key', 'kind']),
);

/** Deletes the renditions of other builds. Returns whether a thumbnail was among them. */
export async function dropOtherBuilds(
  trx: Writer,
  held: { fileId: string; build: number },
  at: string,
): Promise<boolean> {
  const dropped = await deleteOthers(trx, held);
  await scheduleKeys(trx, dropped, at);
  return dropped.some(({ kind }) => kind === 'THUMBNAIL');
}

const lockMedia = prepared.run((db, fileId: Param<string>) =>
  locked(db, db.selectFrom('media').select('file_id').where('file_id', '=', fileId)),
);

const deleteAll = prepared.all((db, fileId: Param<string>) =>
  db.deleteFrom('renditions').where('file_id', '=', fileId).returning('storage_key'),
);

/** Deletes the renditions of a file that is deleted, and schedules the deletion of their blobs. Returns unfinished uploads. */
export async function dropRenditions(trx: Writer, fileId: string, at: string): Promise<PendingBlobDeletion[]> {
  // Locked before the uploads, in the order of completing a rendition.
  await lockMedia(trx, fileId);
  await scheduleKeys(trx, await deleteAll(trx, fileId), at);
  return dropRenditionUploads(trx, fileId, at);
}

const scheduleKeys = (trx: Writer, dropped: { storage_key: string }[], at: string) =>
  scheduleBlobDeletion(
    trx,
    dropped.map(({ storage_key: key }) => ({ key, upload: null })),
    at,
  );

/** Schedules the deletion of the blobs of all renditions in a project. */
export async function scheduleProjectRenditionDeletion(trx: Writer, projectId: string, at: string): Promise<void> {
  await sql`insert into pending_blob_deletions (storage_key, storage_upload, scheduled_at)
    select renditions.storage_key, null, ${at} from files inner join renditions on renditions.file_id = files.id
    where files.project_id = ${projectId}
    on conflict (storage_key) do nothing`.execute(trx);
}
