import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import { join, relative } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Storage } from '../storage.ts';
import { type OpenDriver, openOnDisk } from './drivers.ts';

interface Disk {
  readonly storage: Storage;
  readonly folder: string;
  /** The files of an upload, relative to its folder. */
  partsOf(upload: string): string[];
}

/** Opens the disk driver for the tests of a file. */
export function onDisk(): Disk {
  let opened: OpenDriver;
  beforeAll(async () => {
    opened = await openOnDisk();
  });
  afterAll(() => opened[Symbol.asyncDispose]());
  return {
    get storage() {
      return opened.storage;
    },
    get folder() {
      return opened.folder;
    },
    partsOf(upload) {
      const folder = join(opened.folder, 'parts', upload);
      return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
    },
  };
}

export async function statusOf(sent: ClientRequest): Promise<number | undefined> {
  const [answer] = await once(sent, 'response');
  answer.resume();
  return answer.statusCode;
}
