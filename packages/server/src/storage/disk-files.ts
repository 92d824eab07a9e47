import { createHash, type Hash, randomUUID } from 'node:crypto';
import { access, constants, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { listObjects, listUploads } from './disk-list.ts';
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
import { Turns } from './turns.ts';

/** No such upload, or not any more. */
export class UnknownUpload extends Error {
  override name = 'UnknownUpload';
}

export class WrongSize extends Error {
  override name = 'WrongSize';
}

/** The bytes of the part do not have the MD5 that the request announced. */
export class WrongMd5 extends Error {
  override name = 'WrongMd5';
}

interface PartToStore {
  partNumber: number;
  size: number;
  /** The MD5 that the sender announced, in hex. */
  md5?: string | undefined;
}

const MD5 = /^[0-9a-f]{32}$/;
/** Uploads of earlier versions are plain UUIDs, and their parts `<number>-<md5>` in the upload's folder. */
const FOLDER_PER_PART = 'u-';
const COPIED_AT_ONCE = 1024 * 1024;

/**
 * `objects/<2 characters>/<key>` and `parts/<upload>/<number>/<md5>`, one file per part. Whatever stands under such a
 * name is whole: it was written under another one, flushed, and renamed. An upload is known as long as its folder is there.
 */
export class DiskFiles {
  readonly objects: string;
  readonly #parts: string;
  readonly #trash: string;
  readonly #writes = new PartWrites();
  readonly #completes = new Turns();
  #swept: Promise<void> | undefined;

  constructor(directory: string) {
    this.objects = join(directory, 'objects');
    this.#parts = join(directory, 'parts');
    this.#trash = join(directory, 'trash');
  }

  async begin(): Promise<string> {
    this.#swept ??= this.#sweepTrash();
    await this.#swept;
    const upload = `${FOLDER_PER_PART}${randomUUID()}`;
    await orTrouble(mkdir(this.#folderOf(upload), { recursive: true }));
    return upload;
  }

  /** Stores the part in place of what was stored of it before, and returns its ETag. */
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
        throw isMissing(error) ? new UnknownUpload('There is no such upload.') : asTrouble(error);
      }
    });
  }

  /** One at a time per upload, so that calls made at once do not each write a copy. */
  complete(target: StorageUpload, parts: readonly StoredPart[], size: number): Promise<'made' | 'found'> {
    return this.#completes.run(target.upload, () => orTrouble(this.#complete(target, parts, size)));
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
      // The parts are gone where another server completed the same upload at the same time.
      if (await this.#isStored(key, size)) return 'found';
      throw new PartsMismatch('A part is missing or has another ETag.');
    }
  }

  /** The folder is moved away first: from then on the upload is unknown, whatever is still being written to it. */
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
      throw isMissing(error) ? new NoSuchObject(`There is no object ${key}.`) : asTrouble(error);
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
      throw asTrouble(error);
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

  /** Relative to `objects`. The last two characters: ids begin alike. */
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
    const made = await mkdir(dirname(object), { recursive: true });
    if (made !== undefined) await syncFolder(dirname(made));
    try {
      // Unlike a rename, a link does not replace what another server may have made meanwhile.
      await link(whole, object);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return 'found';
      if (!NO_LINKS.includes(codeOf(error))) throw error;
      await rename(whole, object);
    }
    return 'made';
  }

  /** What a crash left between moving a folder away and deleting it. */
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

/** Not recursive: the folder of an upload that was discarded is not made again. */
async function makePartFolder(folder: string, partNumber: number): Promise<string> {
  const partFolder = join(folder, String(partNumber));
  await mkdir(partFolder).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  return partFolder;
}

/** Deletes what an earlier PUT of the part left: an upload never keeps more bytes than it declared. */
async function removeFormer(folder: string, isFormer: (name: string) => boolean): Promise<void> {
  const former = (await readdir(folder)).filter(isFormer);
  await Promise.all(former.map((name) => rm(join(folder, name), { force: true })));
}

/** The path of a new file with these bytes, flushed to the disk; a failure leaves no file. */
async function writeDraft(folder: string, bytes: AsyncIterable<Buffer>): Promise<string> {
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

/** The chunks of the body, which throws at its end unless it has the size and the MD5 of the part. */
async function* checked(body: AsyncIterable<Buffer>, { size, md5 }: PartToStore, digest: Hash): AsyncGenerator<Buffer> {
  let received = 0;
  for await (const chunk of body) {
    received += chunk.length;
    if (received > size) break;
    digest.update(chunk);
    yield chunk;
  }
  if (received > size) throw new WrongSize(`This part has ${size} bytes; the body has more.`);
  if (received < size) throw new WrongSize(`This part has ${size} bytes; the body has ${received}.`);
  if (md5 !== undefined && md5 !== digest.copy().digest('hex')) {
    throw new WrongMd5('The bytes that arrived do not have the MD5 that Content-MD5 says. Send the part again.');
  }
}

/** In one buffer that is used again and again: what is yielded holds until the next is asked for. */
async function* contents(paths: readonly string[]): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(COPIED_AT_ONCE);
  for (const path of paths) {
    await using file = await open(path);
    for (let read = await file.read(buffer); read.bytesRead > 0; read = await file.read(buffer)) {
      yield buffer.subarray(0, read.bytesRead);
    }
  }
}

/** A rename is only sure to outlast a power cut once its folder is flushed. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}

const orTrouble = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw asTrouble(error);
  });

const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** Forbidden, read-only, broken or replaced: nothing that the caller could do anything about. */
const UNAVAILABLE = ['EACCES', 'EPERM', 'EROFS', 'EIO', 'ENOTDIR', 'ESTALE', 'EMFILE', 'ENFILE'];

function asTrouble(error: unknown): unknown {
  if (FULL.includes(codeOf(error))) return new StorageFull('The disk is full.', { cause: error });
  if (UNAVAILABLE.includes(codeOf(error))) return new StorageUnavailable('The disk takes nothing.', { cause: error });
  return error;
}

/** Of file systems that know no hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

const isMissing = (error: unknown) => codeOf(error) === 'ENOENT';

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
