import { StorageFull, StorageUnavailable } from './storage.ts';

/** What S3 calls the failure; empty when the failure is not an answer of S3. */
export const s3Code = (error: unknown): string =>
  error instanceof Error && statusOf(error) !== undefined ? error.name : '';

/** No answer at all, or one that says to try again later, is the storage's trouble and not the caller's. */
export function asStorageError(error: unknown): unknown {
  const status = statusOf(error);
  if (status === 507) return new StorageFull('The storage is full.', { cause: error });
  if (status === undefined || status >= 500 || status === 429) {
    return new StorageUnavailable('The storage does not answer.', { cause: error });
  }
  return error;
}

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error && '$metadata' in error)) return undefined;
  const metadata = error.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}
