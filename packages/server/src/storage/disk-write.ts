import { type FileHandle, open } from 'node:fs/promises';
import { free } from './free-chunks.ts';

/** A write per chunk of the network, 64 KiB at most, costs about twice the CPU time. */
const BATCH_BYTES = 512 * 1024;
/** What is flushed while more bytes arrive, so that little is left to wait for at the end. */
const FLUSHED_BYTES = 2 * 1024 * 1024;
const COPY_BYTES = 1024 * 1024;

export interface FileRange {
  path: string;
  start: number;
  size: number;
}

/**
 * Writes the chunks into a file from `position` on, and flushes it. Receives while it writes, two batches at most, and while the
 * disk flushes what was written before. Frees the chunks, so nothing else may use them. No write is under way when it returns or throws.
 */
export async function writeBytes(
  path: string,
  flags: string | number,
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  position = 0,
): Promise<void> {
  await using file = await open(path, flags);
  let batch: Buffer[] = [];
  let size = 0;
  let end = position;
  let unflushed = 0;
  let [writing, flushing] = [Promise.resolve(), Promise.resolve()];
  const write = async () => {
    await writing;
    writing = writeAll(file, batch, end);
    // The error is thrown by the next await; it may come while a chunk is awaited.
    writing.catch(() => {});
    end += size;
    unflushed += size;
    batch = [];
    size = 0;
  };
  const flush = async () => {
    // The kernel tells an error to one flush only.
    await flushing;
    flushing = file.datasync();
    flushing.catch(() => {});
    unflushed = 0;
  };
  try {
    for await (const chunk of chunks) {
      batch.push(chunk);
      size += chunk.length;
      if (size >= BATCH_BYTES) await write();
      if (unflushed >= FLUSHED_BYTES) await flush();
    }
    await write();
    await writing;
    await flush();
    await flushing;
  } finally {
    await Promise.allSettled([writing, flushing]);
  }
}

async function writeAll(file: FileHandle, chunks: Buffer[], position: number): Promise<void> {
  let left = chunks;
  let at = position;
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left, at);
    at += bytesWritten;
    left = withoutFirst(left, bytesWritten);
  }
  for (const chunk of chunks) free(chunk);
}

/** Returns the chunks without their first bytes: a write may be short. */
function withoutFirst(chunks: Buffer[], bytes: number): Buffer[] {
  let written = bytes;
  const left: Buffer[] = [];
  for (const chunk of chunks) {
    if (written < chunk.length) left.push(chunk.subarray(written));
    written = Math.max(0, written - chunk.length);
  }
  return left;
}

/** Yields the bytes of the ranges. */
export async function* bytesOf(ranges: readonly FileRange[]): AsyncGenerator<Buffer> {
  for (const { path, start, size } of ranges) {
    await using file = await open(path);
    const end = start + size;
    let at = start;
    while (at < end) {
      const buffer = Buffer.allocUnsafeSlow(Math.min(COPY_BYTES, end - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw new Error(`${path} ends before ${end} bytes.`);
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
}

/** Compares the bytes of two ranges. */
export async function haveSameBytes(one: FileRange, other: FileRange): Promise<boolean> {
  if (one.size !== other.size) return false;
  const others = bytesOf([other]);
  try {
    for await (const bytes of bytesOf([one])) {
      const { value } = await others.next();
      if (value === undefined || !bytes.equals(value)) return false;
    }
    return true;
  } finally {
    await others.return(undefined);
  }
}
