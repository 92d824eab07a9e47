import type { Database } from '../db/schema.ts';
import {
  findNamedKeys,
  findNamedUploads,
  listAttachmentObjects,
  listFileObjects,
  listRenditionObjects,
  listResultObjects,
  type NamedObject,
} from './queries.ts';
import type { Storage, StoredObject, UnfinishedUpload } from './storage.ts';

const BATCH = 500;
const SIZES_AT_ONCE = 16;
/** The format of this service's keys. Other objects in the storage are ignored. */
const OUR_KEY = /^(FX|GA|CA)[0-9A-HJKMNP-TV-Z]{20}(-[0-9a-f-]{36})?$/;

export const isOurKey = (key: string): boolean => OUR_KEY.test(key);

/** The format of the disk driver's upload ids. */
const DISK_UPLOAD = /^(u-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Stores {
  db: Database;
  storage: Storage;
}

/** Yields objects last modified before `before` that no row references. */
export async function* findUnreferenced({ db, storage }: Stores, before: Date): AsyncGenerator<StoredObject> {
  for await (const batch of batches(storage.list())) {
    const old = batch.filter(({ key, modifiedAt }) => OUR_KEY.test(key) && modifiedAt < before);
    const keys = old.map(({ key }) => key);
    const named = await findNamedKeys(db, keys);
    yield* old.filter(({ key }) => !named.has(key));
  }
}

/** Yields unfinished uploads last changed before `before` that no row references. They can never be completed. */
export async function* findAbandoned({ db, storage }: Stores, before: Date): AsyncGenerator<UnfinishedUpload> {
  const isOurs = (key: string) => OUR_KEY.test(key) || DISK_UPLOAD.test(key);
  for await (const batch of batches(storage.listUploads())) {
    const old = batch.filter(({ key, changedAt }) => isOurs(key) && changedAt < before);
    const uploads = old.map(({ upload }) => upload);
    const named = await findNamedUploads(db, uploads);
    yield* old.filter(({ upload }) => !named.has(upload));
  }
}

async function* batches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** An object that a row references and that is missing or has another size than in the row. */
interface DamagedObject extends NamedObject {
  /** The actual size; null if the object is missing. */
  found: number | null;
}

/** Yields pages of the objects that rows reference as their content. */
export async function* listReferenced(db: Database): AsyncGenerator<NamedObject[]> {
  for (const list of [listFileObjects, listRenditionObjects, listAttachmentObjects, listResultObjects]) {
    for (let page = await list(db, '', BATCH); page.length > 0; page = await list(db, page.at(-1)?.id ?? '', BATCH)) {
      yield page;
    }
  }
}

export async function* findDamaged({ db, storage }: Stores): AsyncGenerator<DamagedObject> {
  for await (const page of listReferenced(db)) {
    for (let start = 0; start < page.length; start += SIZES_AT_ONCE) {
      const some = page.slice(start, start + SIZES_AT_ONCE);
      const sized = await Promise.all(
        some.map(async ({ id, key, size }) => ({ id, key, size, found: await storage.sizeOf(key) })),
      );
      yield* sized.filter(({ size, found }) => found !== size);
    }
  }
}
