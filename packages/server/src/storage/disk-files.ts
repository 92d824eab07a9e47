import { createHash, type Hash, randomUUID } from 'node:crypto';
import { access, constants, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { listObjects, listUploads } from './disk-list.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { plainName } from './names.ts';
import { abortable, PartWrites } from './part-writes.ts';
import {
  NoSuchObject,
  PartsMismatch,
  StorageFull,
  StorageUnavailable,
  type StorageUpload,
  type StoredObject,
  type StoredPart,
  type UnfinishedUpload,
} from './storage.ts';

/** The upload does not exist, or was completed or discarded. */
export class UnknownUpload extends Error {
  override name = 'UnknownUpload';
}

export class WrongSize extends Error {
  override name = 'WrongSize';
}

/** The MD5 of the part is not that of the Content-MD5 header. */
export class WrongMd5 extends Error {
  override name = 'WrongMd5';
}

interface PartToStore {
  partNumber: number;
  size: number;
  /** The expected MD5, in hex. */
  md5?: string | undefined;
}

const MD5 = /^[0-9a-f]{32}$/;
/** Uploads of earlier versions are plain UUIDs, and their parts `<number>-<md5>` in the upload's folder. */
const FOLDER_PER_PART = 'u-';
const COPY_BUFFER_BYTES = 1024 * 1024;

/**
 * Stores objects as `objects/<2 characters>/<key>` and parts as `parts/<upload>/<number>/<md5>`. A file under such a name
 * is always complete: it is written under a temporary name, flushed and renamed. An upload exists while its folder does.
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

  /** Writes the draft into the trash, where the next start deletes what a crash leaves. */
  async put(key: string, bytes: Buffer): Promise<void> {
    const object = this.#pathOf(key);
    await this.#sweepTrashOnce();
    await mapErrors(mkdir(this.#trash, { recursive: true }));
    try {
      const draft = await writeDraft(this.#trash, [bytes]);
      await makeFolder(dirname(object));
      await rename(draft, object);
      await syncFolder(dirname(object));
    } catch (error) {
      // Another server that started has emptied the trash.
      if (isMissing(error)) throw new StorageUnavailable('The draft was deleted.', { cause: error });
      throw toStorageError(error);
    }
  }

  /** Stores the part, replacing an earlier PUT of it, and returns its ETag. */
  putPart(upload: string, part: PartToStore, body: AsyncIterable<Buffer>): Promise<string> {
    const folder = this.#folderOf(upload);
    return this.#writes.run(`${upload}/${part.partNumber}`, async (replaced) => {
      const digest = createHash('md5');
      try {
        const partFolder = await makePartFolder(folder, part.partNumber);
        const draft = await writeDraft(partFolder, checked(abortable(body, replaced), part, digest));
        const eTag = digest.digest('hex');
        await rename(draft, join(partFolder, eTag));
        await removeFormer(partFolder, (name) => MD5.test(name) && name !== eTag);
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
    if (length > 0) return handle.createReadStream({ start, end: start + length - 1 });
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
    const paths: string[] = [];
    let total = 0;
    for (const part of parts) {
      const { path, size } = await findPart(folder, part);
      paths.push(path);
      total += size;
    }
    if (total !== size) throw new PartsMismatch(`The parts have ${total} bytes, not ${size}.`);

    const [only, ...others] = paths;
    const whole = only !== undefined && others.length === 0 ? only : await writeDraft(folder, contents(paths));
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

  /** Deletes drafts, and folders that a crash left between the move and the deletion. */
  async #sweepTrash(): Promise<void> {
    const names = await readdir(this.#trash).catch(() => []);
    await Promise.all(
      names.map((name) => rm(join(this.#trash, name), { recursive: true, force: true }).catch(() => {})),
    );
  }
}

async function findPart(folder: string, { partNumber, eTag }: StoredPart): Promise<{ path: string; size: number }> {
  if (!MD5.test(eTag)) throw new PartsMismatch(`There is no part ${partNumber} with that ETag.`);
  const path = join(folder, String(partNumber), eTag);
  const found = await stat(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  if (found !== undefined) return { path, size: found.size };
  const flat = join(folder, `${partNumber}-${eTag}`);
  return { path: flat, size: (await stat(flat)).size };
}

/** Not recursive, so that it does not recreate the folder of a discarded upload. */
async function makePartFolder(folder: string, partNumber: number): Promise<string> {
  const partFolder = join(folder, String(partNumber));
  await mkdir(partFolder).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  return partFolder;
}

/** Deletes earlier PUTs of the part, so that an upload never stores more bytes than it declared. */
async function removeFormer(folder: string, isFormer: (name: string) => boolean): Promise<void> {
  const former = (await readdir(folder)).filter(isFormer);
  await Promise.all(former.map((name) => rm(join(folder, name), { force: true })));
}

/** Writes the bytes to a new file, flushes it and returns its path. A failure leaves no file. */
async function writeDraft(folder: string, bytes: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  const draft = join(folder, `draft-${randomUUID()}`);
  try {
    await using file = await open(draft, 'wx');
    await file.writeFile(bytes);
    await file.datasync();
    return draft;
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

/** Passes the chunks on; throws at the end unless the body has the size and the MD5 of the part. */
async function* checked(body: AsyncIterable<Buffer>, { size, md5 }: PartToStore, digest: Hash): AsyncGenerator<Buffer> {
  let received = 0;
  for await (const chunk of body) {
    received += chunk.length;
    if (received > size) break;
    digest.update(chunk);
    yield chunk;
  }
  if (received > size) throw new WrongSize(`The part must have ${size} bytes; the body has more.`);
  if (received < size) throw new WrongSize(`The part must have ${size} bytes; the body has ${received}.`);
  if (md5 !== undefined && md5 !== digest.copy().digest('hex')) {
    throw new WrongMd5('The MD5 of the received bytes differs from Content-MD5. Send the part again.');
  }
}

/** Yields the contents of the files in one reused buffer: a chunk is valid until the next one is requested. */
async function* contents(paths: readonly string[]): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(COPY_BUFFER_BYTES);
  for (const path of paths) {
    await using file = await open(path);
    for (let read = await file.read(buffer); read.bytesRead > 0; read = await file.read(buffer)) {
      yield buffer.subarray(0, read.bytesRead);
    }
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

const mapErrors = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw toStorageError(error);
  });

const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** Problems of the server's disk that a caller cannot solve. */
const UNAVAILABLE = ['EACCES', 'EPERM', 'EROFS', 'EIO', 'ENOTDIR', 'ESTALE', 'EMFILE', 'ENFILE'];

/** Maps errno to StorageFull or StorageUnavailable; other errors stay as they are. */
function toStorageError(error: unknown): unknown {
  if (FULL.includes(codeOf(error))) return new StorageFull('The disk is full.', { cause: error });
  if (UNAVAILABLE.includes(codeOf(error)))
    return new StorageUnavailable('The disk is not accessible.', { cause: error });
  return error;
}

/** The error codes of file systems without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

const isMissing = (error: unknown) => codeOf(error) === 'ENOENT';

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
