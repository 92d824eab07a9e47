import type { RenditionKind } from '@review/contract';
import type { Selectable } from 'kysely';
import { anyOf } from '../../db/any-of.ts';
import { type Param, type Params, prepared } from '../../db/prepared.ts';
import type { Schema } from '../../db/schema.ts';
import { liveFiles } from '../visibility.ts';

export type StoredMedia = Selectable<Schema['media']>;
export type StoredRendition = Selectable<Schema['renditions']>;

/** What a response shows of media, as columns of a statement about files that joins them. */
export const MEDIA_COLUMNS = [
  'media.kind as media_kind',
  'media.status as media_status',
  'media.error as media_error',
  'media.facts as media_facts',
  'media.thumbnail_key',
] as const;

/** These columns of a file; null without media. */
export interface MediaColumns {
  media_kind: StoredMedia['kind'] | null;
  media_status: StoredMedia['status'] | null;
  media_error: StoredMedia['error'];
  media_facts: StoredMedia['facts'];
  thumbnail_key: StoredMedia['thumbnail_key'];
}

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
