import { chmodSync, statSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { diskDirectories } from './disk-directories.ts';

const OTHERS = 0o077;

/** Gives new files of this process mode 0600 and new directories 0700. */
export const setPrivateUmask = (): void => void process.umask(OTHERS);

/**
 * Removes the permissions of group and others from the database and the stored files: earlier releases created them as
 * 0644 and 0755. DATA_DIR itself may be a directory of the operator's choice, so a loose one is only reported.
 */
export function tightenPermissions({ dataDirectory, database, storageUrl }: Config, log: Logger): void {
  const databaseFiles =
    database.dialect === 'sqlite' ? ['', '-wal', '-shm'].map((suffix) => database.path + suffix) : [];
  for (const path of [...databaseFiles, ...diskDirectories(storageUrl)]) {
    const mode = modeOf(path);
    if (mode === undefined || (mode & OTHERS) === 0) continue;
    try {
      chmodSync(path, mode & ~OTHERS);
      log.info({ path }, 'file permissions of group and others removed');
    } catch (error) {
      log.warn(
        { path, err: error },
        'file permissions not changed: other users of this machine can read this path; run chmod go= on it',
      );
    }
  }
  if (((modeOf(dataDirectory) ?? 0) & OTHERS) !== 0) {
    log.warn({ path: dataDirectory }, 'DATA_DIR is readable by other users of this machine; run chmod 700 on it');
  }
}

const modeOf = (path: string) => {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  return mode === undefined ? undefined : mode & 0o7777;
};
