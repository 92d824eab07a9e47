import { type MediaFacts, NO_FACTS, type RenditionName } from '@review/contract';
import type { House } from '../../../test/house.ts';
import { PNG, workerOf } from '../../generation/test/generations.ts';
import { putParts, upload } from '../../uploads/test/uploads.ts';

export const FACTS: MediaFacts = {
  ...NO_FACTS,
  width: 1920,
  height: 1080,
  hdr: false,
  placeholder: 'data:image/webp;base64,AAAA',
};

/** The fewest bytes that are detected as WebP. */
export const WEBP = Buffer.concat([Buffer.from('RIFF\x1a\0\0\0WEBPVP8L'), Buffer.alloc(20)]);

export const THUMBNAIL: RenditionName = { kind: 'THUMBNAIL', variant: 0 };

export interface Attempt {
  id: string;
  epoch: number;
}

export const newPicture = (house: House, projectId = house.projectId): Promise<string> =>
  upload(house.people.owner.client, 'FX', projectId, PNG, { name: 'still.png' });

/** Starts an attempt at a file, which is taken over from any holder. */
export async function attempt(house: House, id: string): Promise<Attempt> {
  const { data } = await workerOf(house).startMedia({ params: { id }, body: { epoch: null } });
  return { id, epoch: data.epoch };
}

/** Starts the upload of a rendition and sends its parts. */
export async function sendRendition(house: House, { id, epoch }: Attempt, name = THUMBNAIL, bytes = WEBP) {
  const body = { epoch, ...name, size: bytes.length, mimeType: 'image/webp' };
  const { data } = await workerOf(house).startRendition({ params: { id }, body });
  return putParts({ id, expiresAt: '', ...data }, bytes);
}

export async function storeRendition(house: House, held: Attempt, name = THUMBNAIL, bytes = WEBP): Promise<void> {
  const parts = await sendRendition(house, held, name, bytes);
  const shape = { width: 320, height: 180, filmstrip: null };
  const body = { epoch: held.epoch, ...name, parts, ...shape };
  await workerOf(house).completeRendition({ params: { id: held.id }, body });
}

export const finish = (house: House, { id, epoch }: Attempt) =>
  workerOf(house).finishMedia({ params: { id }, body: { epoch, error: null } });

/** A new picture whose media is complete, with a thumbnail. */
export async function readyPicture(house: House, projectId?: string): Promise<string> {
  const held = await attempt(house, await newPicture(house, projectId));
  await workerOf(house).recordFacts({ params: { id: held.id }, body: { epoch: held.epoch, facts: FACTS } });
  await storeRendition(house, held);
  await finish(house, held);
  return held.id;
}

/** The keys in the storage that belong to a file. */
export async function keysOf({ deps }: House, id: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of deps.storage.list()) if (key.startsWith(id)) found.push(key);
  return found;
}
