import type { Database } from '../db/schema.ts';
import { findNamedKeys, listAttachmentObjects, listFileObjects, type NamedObject } from './queries.ts';
import type { Storage, StoredObject } from './storage.ts';

const BATCH = 500;
const SIZES_AT_ONCE = 16;
/** The keys that this service makes: anything else in the storage is not ours to judge. */
const OUR_KEY = /^(FX|GA|CA)[0-9A-HJKMNP-TV-Z]{20}(-[0-9a-f-]{36})?$/;

/** Objects last changed before `before` that no row names. */
export async function* findUnreferenced(
  { db, storage }: { db: Database; storage: Storage },
  before: Date,
): AsyncGenerator<StoredObject> {
  async function* unnamed(objects: StoredObject[]) {
    const named = await findNamedKeys(
      db,
      objects.map(({ key }) => key),
    );
    yield* objects.filter(({ key }) => !named.has(key));
  }
  let batch: StoredObject[] = [];
  for await (const object of storage.list()) {
    if (!OUR_KEY.test(object.key) || object.modifiedAt >= before) continue;
    batch.push(object);
    if (batch.length < BATCH) continue;
    yield* unnamed(batch);
    batch = [];
  }
  yield* unnamed(batch);
}

/** An object that a row names and that is missing, or has another size than the row says. */
interface DamagedObject extends NamedObject {
  /** The size found; null where the object is missing. */
  found: number | null;
}

export async function* findDamaged({ db, storage }: { db: Database; storage: Storage }): AsyncGenerator<DamagedObject> {
  for (const list of [listFileObjects, listAttachmentObjects]) {
    for (let page = await list(db, '', BATCH); page.length > 0; page = await list(db, page.at(-1)?.id ?? '', BATCH)) {
      for (let start = 0; start < page.length; start += SIZES_AT_ONCE) {
        const some = page.slice(start, start + SIZES_AT_ONCE);
        const sized = await Promise.all(some.map(async (row) => ({ ...row, found: await storage.sizeOf(row.key) })));
        yield* sized.filter(({ size, found }) => found !== size);
      }
    }
  }
}
