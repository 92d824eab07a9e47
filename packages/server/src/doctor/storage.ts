import { randomUUID } from 'node:crypto';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { directoryOf } from '../storage/disk-directories.ts';
import { isMissing } from '../storage/disk-errors.ts';
import { type Check, type Diagnosed, failed, type Outcome, ok, reasonOf, warning } from './finding.ts';

export const checkStorage: Check = async ({ storage }) => {
  const key = `doctor-${randomUUID()}`;
  const bytes = Buffer.from(key);
  let step = 'write';
  try {
    await storage.put(key, Buffer.from(bytes));
    step = 'read';
    const found = await buffer(await storage.read(key));
    if (!found.equals(bytes)) throw new Error('the object has other bytes than were written');
    step = 'delete';
    await storage.remove(key);
    return [ok('An object was written, read and deleted.')];
  } catch (error) {
    await storage.remove(key).catch(() => {});
    return [
      failed(
        `The storage did not ${step} an object: ${reasonOf(error)}`,
        'Compare STORAGE_URL and the credentials with the store, and check its permissions and free space.',
      ),
    ];
  }
};

const MIN_FREE_BYTES = 256 * 1024 ** 2;

/** One outcome per file system. */
export const checkDiskSpace: Check = async ({ config }) =>
  (await listFreeSpace(config)).map(({ directory, free }) => judge(directory, free, config.uploadLimit));

/** Returns the free bytes of each file system that the service writes to, with one of its directories. */
export async function listFreeSpace(config: Diagnosed['config']): Promise<{ directory: string; free: number }[]> {
  const found = await Promise.all(directoriesOf(config).map(freeSpace));
  const byDevice = new Map(found.flatMap((space) => (space === null ? [] : [[space.device, space]])));
  return [...byDevice.values()];
}

/** Returns null for a directory that does not exist: the server creates it when it first needs it. */
async function freeSpace(directory: string) {
  try {
    const { bavail, bsize } = await statfs(directory);
    return { directory, free: bavail * bsize, device: (await stat(directory)).dev };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function judge(directory: string, free: number, uploadLimit: number): Outcome {
  const message = `${directory} has ${(free / 1024 ** 3).toFixed(1)} GiB free.`;
  if (free < MIN_FREE_BYTES) return failed(message, 'Free space now: writes fail once the disk is full.');
  if (free < uploadLimit)
    return warning(`${message} An upload may have ${uploadLimit} bytes.`, 'Free space, or lower UPLOAD_LIMIT.');
  return ok(message);
}

const directoriesOf = ({ dataDirectory, database, storageUrl }: Diagnosed['config']): string[] => [
  ...new Set([
    dataDirectory,
    ...(database.dialect === 'sqlite' ? [dirname(database.path)] : []),
    ...(storageUrl.startsWith('s3:') ? [] : [directoryOf(storageUrl)]),
  ]),
];
