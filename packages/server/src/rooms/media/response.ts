import { type Media, NO_FACTS, type Rendition } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import type { Deps } from '../../deps.ts';
import { findMedia, listRenditions, type StoredMedia, type StoredRendition } from './queries.ts';
import { stableUrl, thumbnailUrl } from './urls.ts';

/** The fields of a file that its media decides. */
interface MediaFields {
  media: Media | null;
  thumbnailUrl: string | null;
}

export const NO_MEDIA: MediaFields = { media: null, thumbnailUrl: null };

const toMedia = ({ status, error, kind, facts }: Pick<StoredMedia, 'status' | 'error' | 'kind' | 'facts'>): Media => ({
  status,
  error: parseJson(error),
  kind,
  ...(parseJson(facts) ?? NO_FACTS),
});

/** Returns the media of several files, by the id of the file. */
export async function mediaFields(
  { db, storage }: Pick<Deps, 'db' | 'storage'>,
  fileIds: string[],
): Promise<Map<string, MediaFields>> {
  const fields = new Map<string, MediaFields>();
  for (const [id, stored] of await findMedia(db, fileIds)) {
    const url = thumbnailUrl(storage, stored.thumbnail_key);
    fields.set(id, { media: toMedia(stored), thumbnailUrl: url instanceof Promise ? await url : url });
  }
  return fields;
}

export async function renditionRecords({ db, storage }: Pick<Deps, 'db' | 'storage'>, fileId: string) {
  return Promise.all((await listRenditions(db, fileId)).map((stored) => toRendition(storage, stored)));
}

const toRendition = async (storage: Deps['storage'], stored: StoredRendition): Promise<Rendition> => ({
  kind: stored.kind,
  mimeType: stored.mime_type,
  width: stored.width,
  height: stored.height,
  size: stored.size,
  filmstrip: parseJson(stored.filmstrip),
  page: stored.kind === 'PAGE' ? stored.variant : null,
  ...(await stableUrl(storage, stored)),
});
