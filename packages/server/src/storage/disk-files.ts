import { randomUUID } from 'node:crypto';
import { access, constants, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { codeOf, isMissing, mapErrors, toStorageError } from './disk-errors.ts';
import { listObjects, listUploads } from './disk-list.ts';
import { findJoined, findPart, type PartToStore, removeFormer, storePart, writeDraft } from './disk-parts.ts';
import { bytesOf } from './disk-write.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { plainName } from './names.ts';
import { PartWrites } from './part-writes.ts';
import {
  NoSuchObject,
  PartsMismatch,
  type StorageUpload,
  type StoredObject,
  type StoredPart,
  type UnfinishedUpload,
} from './storage.ts';

/** The upload does not exist, or was completed or discarded. */
export class UnknownUpload extends Error {
  override name = 'UnknownUpload';
}

/** Uploads of earlier versions are plain UUIDs, and their parts `<number>-<md5>` in the upload's folder. */
const FOLDER_PER_PART = 'u-';
/** Far longer than a small object takes to write. */
const MAX_DRAFT_MS = 3_600_000;
/** Chunks of the default 64 KiB cost about 1.6 times the CPU time. */
export const READ_BYTES = 512 * 1024;

/**
 * Stores objects as `objects/<2 characters>/<key>`, and the parts of an upload in `parts/<upload>` (`disk-parts.ts`). An
 * object is always complete: it is written elsewhere, flushed and linked. An upload exists while its folder does.
 */
export class DiskFiles {
  readonly objects: string;
  readonly #parts: string;
  readonly #trash: string;
  readonly #writes = new PartWrites();
  readonly #completes = new KeyedMutex();
  #swept: Promise<void> | undefined;

  constructor(directory: string) {
    this.objects = join(directory, 'objects');
    this.#parts = join(directory, 'parts');
    this.#trash = join(directory, 'trash');
  }

  async begin(): Promise<string> {
    await this.#sweepTrashOnce();
    const upload = `${FOLDER_PER_PART}${randomUUID()}`;
    await mapErrors(mkdir(this.#folderOf(upload), { recursive: true }));
    return upload;
  }

  /** Writes the draft into the trash, where a later start deletes what a crash leaves. Frees the chunks. */
  async put(key: string, chunks: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
    const object = this.#pathOf(key);
    await this.#sweepTrashOnce();
    await mapErrors(mkdir(this.#trash, { recursive: true }));
    try {
      const draft = await writeDraft(this.#trash, chunks);
      await makeFolder(dirname(object));
      await rename(draft, object);
      await syncFolder(dirname(object));
    } catch (error) {
      throw toStorageError(error);
    }
  }

  /** Stores the part, replacing an earlier PUT of it, and returns its ETag. */
  putPart(upload: string, part: PartToStore, body: AsyncIterable<Buffer>): Promise<string> {
    const folder = this.#folderOf(upload);
    return this.#writes.run(`${upload}/${part.partNumber}`, async (replaced) => {
      try {
        const eTag = await storePart(folder, part, body, replaced);
        if (!upload.startsWith(FOLDER_PER_PART)) {
          await removeFormer(folder, (name) => name.startsWith(`${part.partNumber}-`));
        }
        return eTag;
      } catch (error) {
        throw isMissing(error) ? new UnknownUpload('There is no such upload.') : toStorageError(error);
      }
    });
  }

  /** Runs one call per upload at a time, so that concurrent calls do not each write a copy. */
  complete(target: StorageUpload, parts: readonly StoredPart[], size: number): Promise<'made' | 'found'> {
    return this.#completes.run(target.upload, () => mapErrors(this.#complete(target, parts, size)));
  }

  async #complete({ key, upload }: StorageUpload, parts: readonly StoredPart[], size: number) {
    const outcome = await this.#makeObject(key, this.#folderOf(upload), parts, size);
    await syncFolder(dirname(this.#pathOf(key)));
    await this.discard(upload);
    return outcome;
  }

  async #makeObject(key: string, folder: string, parts: readonly StoredPart[], size: number) {
    if (await this.#isStored(key, size)) return 'found';
    try {
      return await this.#assemble(key, folder, parts, size);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Another server may have completed the upload at the same time and removed its parts.
      if (await this.#isStored(key, size)) return 'found';
      throw new PartsMismatch('A part is missing or has another ETag.');
    }
  }

  /** Deletes an upload and its parts. Moves the folder away first, so that writes in flight fail as for an unknown upload. */
  async discard(upload: string): Promise<void> {
    const discarded = join(this.#trash, randomUUID());
    await mkdir(this.#trash, { recursive: true });
    try {
      await rename(this.#folderOf(upload), discarded);
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    await rm(discarded, { recursive: true, force: true, maxRetries: 3 });
  }

  async read(key: string, { start = 0, length = Number.POSITIVE_INFINITY } = {}): Promise<Readable> {
    const handle = await open(this.#pathOf(key)).catch((error: unknown) => {
      throw isMissing(error) ? new NoSuchObject(`There is no object ${key}.`) : toStorageError(error);
    });
    if (length > 0) return handle.createReadStream({ start, end: start + length - 1, highWaterMark: READ_BYTES });
    await handle.close();
    return Readable.from([]);
  }

  async remove(key: string): Promise<void> {
    await rm(this.#pathOf(key), { force: true });
  }

  async sizeOf(key: string): Promise<number | null> {
    try {
      return (await stat(this.#pathOf(key))).size;
    } catch (error) {
      if (isMissing(error)) return null;
      throw toStorageError(error);
    }
  }

  list(): AsyncIterable<StoredObject> {
    return listObjects(this.objects);
  }

  listUploads(): AsyncIterable<UnfinishedUpload> {
    return listUploads(this.#parts);
  }

  async isReachable(): Promise<boolean> {
    try {
      await mkdir(this.objects, { recursive: true });
      await access(this.objects, constants.R_OK | constants.W_OK);
      return true;
    } catch {
      return false;
    }
  }

  /** The path relative to `objects`, in a folder named by the last two characters, because all ids start alike. */
  nameOf(key: string): string {
    return join(plainName(key).slice(-2), key);
  }

  #pathOf(key: string): string {
    return join(this.objects, this.nameOf(key));
  }

  #folderOf(upload: string): string {
    return join(this.#parts, plainName(upload));
  }

  async #isStored(key: string, size: number): Promise<boolean> {
    return (await this.sizeOf(key)) === size;
  }

  async #assemble(key: string, folder: string, parts: readonly StoredPart[], size: number): Promise<'made' | 'found'> {
    const found = await Promise.all(parts.map((part) => findPart(folder, part)));
    const total = found.reduce((sum, range) => sum + range.size, 0);
    if (total !== size) throw new PartsMismatch(`The parts have ${total} bytes, not ${size}.`);

    const whole = (await findJoined(found)) ?? (await writeDraft(folder, bytesOf(found)));
    const object = this.#pathOf(key);
    await makeFolder(dirname(object));
    try {
      // Unlike a rename, a link does not replace an object that another server has made.
      await link(whole, object);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return 'found';
      if (!NO_LINKS.includes(codeOf(error))) throw error;
      await rename(whole, object);
    }
    return 'made';
  }

  #sweepTrashOnce(): Promise<void> {
    this.#swept ??= this.#sweepTrash();
    return this.#swept;
  }

  /** Deletes folders that a crash left between the move and the deletion, and drafts that no server still writes. */
  async #sweepTrash(): Promise<void> {
    const names = await readdir(this.#trash).catch(() => []);
    const sweep = async (path: string, isDraft: boolean) => {
      if (isDraft && (await stat(path)).mtimeMs > Date.now() - MAX_DRAFT_MS) return;
      await rm(path, { recursive: true, force: true });
    };
    await Promise.all(names.map((name) => sweep(join(this.#trash, name), name.startsWith('draft-')).catch(() => {})));
  }
}

async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  if (made !== undefined) await syncFolder(dirname(made));
}

/** Flushes a folder: only then does a rename in it survive a power cut. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}

/** The error codes of file systems without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];
