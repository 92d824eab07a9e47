import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { access, constants, open, rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Hash, Landing } from './platform.ts';

export async function openPath(path: string): Promise<{ blob: Blob; name: string }> {
  // Says what is wrong with the path, which `openAsBlob` does not.
  await access(path, constants.R_OK);
  return { blob: await openAsBlob(path), name: basename(path) };
}

export function sha256(): Hash {
  const hash = createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') };
}

/** A file beside its final place, under a name that tells whose bytes it holds: what is there already stays. */
export async function land(path: string, id: string): Promise<Landing> {
  const unfinished = `${path}.${id}.part`;
  const handle = await open(unfinished, 'a');
  return {
    size: (await handle.stat()).size,
    present: () => createReadStream(unfinished),
    write: async (bytes) => {
      for (let written = 0; written < bytes.byteLength; ) {
        written += (await handle.write(bytes, written)).bytesWritten;
      }
    },
    settle: async () => {
      await handle.sync();
      await handle.close();
      await rename(unfinished, path);
    },
    leave: () => handle.close(),
    discard: async () => {
      await handle.close();
      await rm(unfinished, { force: true });
    },
  };
}
