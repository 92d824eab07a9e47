import { createHash, randomUUID } from 'node:crypto';
import { constants, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, isMissing } from './disk-errors.ts';
import { type FileRange, haveSameBytes, writeBytes } from './disk-write.ts';
import { abortable } from './part-writes.ts';
import { PartsMismatch, type StoredPart } from './storage.ts';

/*
 * The folder of an upload:
 *
 *   whole                           the bytes of parts with an offset, each at its offset
 *   <number>/claim                  reserves the part's range of `whole` for one PUT
 *   <number>/<eTag>+<offset>+<size> the part is in `whole`
 *   <number>/<eTag>                 the part, in a file of its own
 *
 * A range of `whole` is written by one PUT only: a PUT that finds the claim of another writes a file of its own, so that
 * an interrupted PUT never damages an acknowledged part. An ETag is random, because a hash of the bytes takes a quarter of the
 * CPU time of an upload; the same bytes sent again keep theirs.
 */

export class WrongSize extends Error {
  override name = 'WrongSize';
}

/** The MD5 of the part is not that of the Content-MD5 header. */
export class WrongMd5 extends Error {
  override name = 'WrongMd5';
}

export interface PartToStore {
  partNumber: number;
  size: number;
  /** The position of the part in the object, if the plan of the upload is known. */
  offset?: number | undefined;
  /** The expected MD5, in hex. */
  md5?: string | undefined;
}

const ETAG = /^[0-9a-f]{32}$/;
const BODY = /^(?<eTag>[0-9a-f]{32})(?:\+(?<start>\d+)\+(?<size>\d+))?$/;
const WHOLE = 'whole';
const CLAIM = 'claim';

/** Stores the part, replacing an earlier PUT of it, and returns its ETag. An error leaves no bytes. */
export async function storePart(
  folder: string,
  part: PartToStore,
  body: AsyncIterable<Buffer>,
  replaced: AbortSignal,
): Promise<string> {
  const partFolder = await makePartFolder(folder, part.partNumber);
  const bytes = checked(abortable(body, replaced), part);
  const { offset } = part;
  const isPlaced = offset !== undefined && (await claimRange(partFolder));
  const kept = isPlaced
    ? await writePlaced(folder, partFolder, { ...part, offset }, bytes)
    : await writeOwnFile(folder, partFolder, bytes);
  await removeFormer(partFolder, (name) => BODY.test(name) && name !== kept);
  return kept.slice(0, 32);
}

const newETag = () => randomUUID().replaceAll('-', '');

/** Returns whether this PUT is the first for the part, and may write to its range of `whole`. */
async function claimRange(partFolder: string): Promise<boolean> {
  try {
    await using _ = await open(join(partFolder, CLAIM), 'wx');
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function writePlaced(
  folder: string,
  partFolder: string,
  { offset, size }: { offset: number; size: number },
  bytes: AsyncIterable<Buffer>,
): Promise<string> {
  try {
    await writeBytes(join(folder, WHOLE), constants.O_WRONLY | constants.O_CREAT, bytes, offset);
    const name = `${newETag()}+${offset}+${size}`;
    await using _ = await open(join(partFolder, name), 'w');
    return name;
  } catch (error) {
    // The writes have ended, so that another PUT may have the range.
    await rm(join(partFolder, CLAIM), { force: true }).catch(() => {});
    throw error;
  }
}

/** Keeps the stored body if it has the same bytes. */
async function writeOwnFile(folder: string, partFolder: string, bytes: AsyncIterable<Buffer>): Promise<string> {
  const draft = await writeDraft(partFolder, bytes);
  const sent = await wholeFile(draft);
  for (const name of await readdir(partFolder)) {
    if (!BODY.test(name) || !(await isSame(sent, rangeOf(folder, partFolder, name)))) continue;
    await rm(draft, { force: true });
    return name;
  }
  const eTag = newETag();
  await rename(draft, join(partFolder, eTag));
  return eTag;
}

/** A body that another server replaces meanwhile is not the same. */
async function isSame(sent: FileRange, stored: Promise<FileRange>): Promise<boolean> {
  try {
    return await haveSameBytes(sent, await stored);
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Writes the bytes to a new file, flushes it and returns its path. Frees the chunks. A failure leaves no file. */
export async function writeDraft(folder: string, bytes: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  const draft = join(folder, `draft-${randomUUID()}`);
  try {
    await writeBytes(draft, 'wx', bytes);
    return draft;
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

/** Throws ENOENT or PartsMismatch if the part is missing or has another ETag. */
export async function findPart(folder: string, { partNumber, eTag }: StoredPart): Promise<FileRange> {
  if (!ETAG.test(eTag)) throw new PartsMismatch(`There is no part ${partNumber} with that ETag.`);
  const partFolder = join(folder, String(partNumber));
  const names = await readdir(partFolder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const name = names.find((found) => BODY.exec(found)?.groups?.['eTag'] === eTag);
  return name === undefined ? wholeFile(join(folder, `${partNumber}-${eTag}`)) : rangeOf(folder, partFolder, name);
}

/** Where a body is, by its name. */
async function rangeOf(folder: string, partFolder: string, name: string): Promise<FileRange> {
  const { start, size } = BODY.exec(name)?.groups ?? {};
  if (size === undefined) return wholeFile(join(partFolder, name));
  return { path: join(folder, WHOLE), start: Number(start), size: Number(size) };
}

const wholeFile = async (path: string): Promise<FileRange> => ({ path, start: 0, size: (await stat(path)).size });

/** Returns the file that already has the bytes of the parts in their order, and nothing else; null if there is none. */
export async function findJoined(parts: readonly FileRange[]): Promise<string | null> {
  const path = parts[0]?.path;
  if (path === undefined) return null;
  let end = 0;
  for (const part of parts) {
    if (part.path !== path || part.start !== end) return null;
    end += part.size;
  }
  return (await stat(path)).size === end ? path : null;
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
export async function removeFormer(folder: string, isFormer: (name: string) => boolean): Promise<void> {
  const former = (await readdir(folder)).filter(isFormer);
  await Promise.all(former.map((name) => rm(join(folder, name), { force: true })));
}

/** Passes the chunks on; throws at the end unless the body has the size and, if announced, the MD5 of the part. */
async function* checked(body: AsyncIterable<Buffer>, { size, md5 }: PartToStore): AsyncGenerator<Buffer> {
  const digest = md5 === undefined ? null : createHash('md5');
  let received = 0;
  for await (const chunk of body) {
    received += chunk.length;
    if (received > size) break;
    digest?.update(chunk);
    yield chunk;
  }
  if (received > size) throw new WrongSize(`The part must have ${size} bytes; the body has more.`);
  if (received < size) throw new WrongSize(`The part must have ${size} bytes; the body has ${received}.`);
  if (digest !== null && digest.digest('hex') !== md5) {
    throw new WrongMd5('The MD5 of the received bytes differs from Content-MD5. Send the part again.');
  }
}
