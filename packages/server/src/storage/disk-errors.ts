import { StorageFull, StorageUnavailable } from './storage.ts';

const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** Problems of the server's disk that a caller cannot solve. */
const UNAVAILABLE = ['EACCES', 'EPERM', 'EROFS', 'EIO', 'ENOTDIR', 'ESTALE', 'EMFILE', 'ENFILE'];

/** Maps errno to StorageFull or StorageUnavailable; other errors stay as they are. */
export function toStorageError(error: unknown): unknown {
  if (FULL.includes(codeOf(error))) return new StorageFull('The disk is full.', { cause: error });
  if (UNAVAILABLE.includes(codeOf(error)))
    return new StorageUnavailable('The disk is not accessible.', { cause: error });
  return error;
}

export const mapErrors = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw toStorageError(error);
  });

export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';

export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
