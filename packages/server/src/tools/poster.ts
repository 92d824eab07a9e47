import { buffer } from 'node:stream/consumers';
import { FileDetails } from '@review/contract';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { findRendition } from '../rooms/media/queries.ts';
import { NoSuchObject } from '../storage/storage.ts';

const GotFile = z.object({ data: FileDetails.pick({ id: true }) });

/** Returns the poster of a file as an image, so that an agent sees what it has made; null if the file has none. */
export async function posterOf({ db, storage }: Pick<Deps, 'db' | 'storage'>, answer: unknown) {
  const fileId = GotFile.safeParse(answer).data?.data.id;
  const poster = fileId === undefined ? undefined : await findRendition(db, { fileId, kind: 'POSTER' });
  if (poster === undefined) return null;
  try {
    const bytes = await buffer(await storage.read(poster.storage_key));
    return { type: 'image' as const, data: bytes.toString('base64'), mimeType: poster.mime_type };
  } catch (error) {
    // A rebuild has replaced it meanwhile.
    if (error instanceof NoSuchObject) return null;
    throw error;
  }
}
