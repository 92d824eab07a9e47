import type { RenditionKind } from '@review/contract';
import type { Selectable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Schema } from '../../db/schema.ts';
import { liveFiles } from '../visibility.ts';

export type StoredMedia = Selectable<Schema['media']>;
export type StoredRendition = Selectable<Schema['renditions']>;

export const findMedia = prepared(
  (db, fileIds: Param<string[]>) =>
    db
      .selectFrom('media')
      .select(['file_id', 'kind', 'status', 'error', 'facts', 'thumbnail_key'])
      .where('file_id', ...anyOf(db, fileIds)),
  (rows) => new Map(rows.map((row) => [row.file_id, row])),
);

export const listRenditions = prepared.all((db, fileId: Param<string>) =>
  db.selectFrom('renditions').selectAll().where('file_id', '=', fileId).orderBy('kind').orderBy('variant', 'desc'),
);

export const findRendition = prepared.first((db, { fileId, kind }: Params<{ fileId: string; kind: RenditionKind }>) =>
  db
    .selectFrom('renditions')
    .select(['storage_key', 'mime_type'])
    .where('file_id', '=', fileId)
    .where('kind', '=', kind)
    .limit(1),
);

/** Returns the key of the newest thumbnail of each project, by the id of the project. */
export const findProjectThumbnails = prepared(
  (db, projectIds: Param<string[]>, restricted: boolean) =>
    db
      .selectFrom('projects')
      .select([
        'id',
        (eb) =>
          eb
            .selectFrom('media')
            .select('thumbnail_key')
            .whereRef('media.project_id', '=', 'projects.id')
            .where('thumbnail_key', 'is not', null)
            .innerJoin(liveFiles(db).select(['id', 'allow_restricted']).as('file'), 'file.id', 'media.file_id')
            .$if(restricted, (media) => media.where('file.allow_restricted', '=', 1))
            .orderBy('media.created_at', 'desc')
            .limit(1)
            .as('key'),
      ])
      .where('id', ...anyOf(db, projectIds)),
  (rows) => new Map(rows.map(({ id, key }) => [id, key])),
);

/** Returns the key of the thumbnail of the version's first file that has one. */
export const findVersionThumbnail = prepared(
  (db, { versionId }: Params<{ versionId: string }>, restricted: boolean) =>
    db
      .selectFrom('version_files as held')
      .innerJoin('media', 'media.file_id', 'held.file_id')
      .innerJoin(liveFiles(db).select(['id', 'allow_restricted']).as('file'), 'file.id', 'held.file_id')
      .select('thumbnail_key as key')
      .where('held.version_id', '=', versionId)
      .where('thumbnail_key', 'is not', null)
      .$if(restricted, (files) => files.where('file.allow_restricted', '=', 1))
      .orderBy('held.position')
      .limit(1),
  ([row]) => row?.key ?? null,
);
