import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { access, constants, open, rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Hash, PartialFile } from './platform.ts';

export async function openPath(path: string): Promise<{ blob: Blob; name: string }> {
  // Fails with a clear errno, which `openAsBlob` does not.
  await access(path, constants.R_OK);
  return { blob: await openAsBlob(path), name: basename(path) };
}

export function sha256(): Hash {
  const hash = createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') };
}

/** Opens `<path>.<id>.part` for appending. Bytes of an earlier download are kept. */
export async function openPartialFile(path: string, id: string): Promise<PartialFile> {
  const partialPath = `${path}.${id}.part`;
  const handle = await open(partialPath, 'a');
  return {
    size: (await handle.stat()).size,
    read: () => createReadStream(partialPath),
    write: async (bytes) => {
      for (let written = 0; written < bytes.byteLength; ) {
        written += (await handle.write(bytes, written)).bytesWritten;
      }
    },
    commit: async () => {
      await handle.sync();
      await handle.close();
      await rename(partialPath, path);
    },
    close: () => handle.close(),
    discard: async () => {
      await handle.close();
      await rm(partialPath, { force: true });
    },
  };
}
