import {
  type Filmstrip,
  type MediaError,
  type MediaFacts,
  type MediaKind,
  NO_FACTS,
  type RenditionKind,
} from '@review/contract';
import { now } from '../packages/server/src/db/time.ts';
import { inTransaction } from '../packages/server/src/db/transaction.ts';
import { appendEvents } from '../packages/server/src/rooms/events/outbox.ts';
import type { Service } from './service.ts';

export const PLACEHOLDER = 'data:image/webp;base64,UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA';

interface GivenRendition {
  kind: RenditionKind;
  /** The file whose content is the rendition. */
  from: string;
  mimeType: string;
  width?: number;
  height?: number;
  filmstrip?: Filmstrip;
}

interface GivenMedia {
  kind: MediaKind;
  /** PENDING without facts, FAILED with an error. */
  facts?: Partial<MediaFacts>;
  error?: MediaError;
  /** The file whose content is the thumbnail. */
  thumbnail?: string;
  renditions?: GivenRendition[];
}

/** Writes the media of a file as a worker would leave it, with the contents of other files as its renditions. */
export async function setMedia(service: Service, fileId: string, given: GivenMedia): Promise<void> {
  const { db } = service.database;
  const { kind, facts, error, thumbnail, renditions = [] } = given;
  const status = error !== undefined ? 'FAILED' : facts === undefined ? 'PENDING' : 'READY';
  const keyOf = async (id: string) => {
    const file = await db.selectFrom('files').select('storage_key').where('id', '=', id).executeTakeFirstOrThrow();
    if (file.storage_key === null) throw new Error(`the file ${id} has no content`);
    return file.storage_key;
  };
  const thumbnailKey = thumbnail === undefined ? null : await keyOf(thumbnail);
  const keys = await Promise.all(renditions.map(({ from }) => keyOf(from)));
  await inTransaction(db, async (trx) => {
    const { project_id } = await trx
      .selectFrom('files')
      .select('project_id')
      .where('id', '=', fileId)
      .executeTakeFirstOrThrow();
    await trx.deleteFrom('renditions').where('file_id', '=', fileId).execute();
    await trx.deleteFrom('media').where('file_id', '=', fileId).execute();
    const all = facts && { ...NO_FACTS, ...facts };
    await trx
      .insertInto('media')
      .values({
        file_id: fileId,
        project_id,
        kind,
        status,
        error: error === undefined ? null : JSON.stringify(error),
        facts: all === undefined ? null : JSON.stringify(all),
        duration_ms: all?.durationMs ?? null,
        short_side: null,
        thumbnail_key: thumbnailKey,
        build: 1,
        attempts: 1,
        // Fences off a worker that has claimed the row before.
        epoch: 1000,
        due_at: null,
        created_at: now(),
      })
      .execute();
    for (const [index, { from: _, mimeType, width = null, height = null, filmstrip, kind }] of renditions.entries()) {
      await trx
        .insertInto('renditions')
        .values({
          file_id: fileId,
          kind,
          variant: kind === 'PROXY' ? (height ?? 0) : 0,
          build: 1,
          storage_key: keys[index] ?? '',
          mime_type: mimeType,
          width,
          height,
          size: 1,
          filmstrip: filmstrip === undefined ? null : JSON.stringify(filmstrip),
        })
        .execute();
    }
    if (status === 'PENDING') return;
    const event = { projectId: project_id, subjectId: fileId };
    await appendEvents(trx, null, [
      error === undefined
        ? { ...event, type: 'file.media.ready', data: {} }
        : { ...event, type: 'file.media.failed', data: { error: { code: error.code } } },
    ]);
  });
}
