import { type Media, NO_FACTS, type Rendition } from '@review/contract';
import { parseJson } from '../../db/json.ts';
import type { Deps } from '../../deps.ts';
import { listRenditions, type MediaColumns, type StoredRendition } from './queries.ts';
import { stableUrl } from './urls.ts';

/** Returns the media of a file; null for what is not media. */
export function toMedia(file: MediaColumns): Media | null {
  const { media_status: status, media_error: error, media_kind: kind, media_facts: facts } = file;
  if (status === null || kind === null) return null;
  return { status, error: parseJson(error), kind, ...(parseJson(facts) ?? NO_FACTS) };
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
