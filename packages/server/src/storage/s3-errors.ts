import { StorageFull, StorageUnavailable } from './storage.ts';

/** The error code of an S3 response; empty if the error is not one. */
export const s3Code = (error: unknown): string =>
  error instanceof Error && statusOf(error) !== undefined ? error.name : '';

/** Maps 507 to StorageFull, and no response, 429 and other 5xx to StorageUnavailable; other errors stay as they are. */
export function toStorageError(error: unknown): unknown {
  const status = statusOf(error);
  if (status === 507) return new StorageFull('The storage is full.', { cause: error });
  if (status === undefined || status >= 500 || status === 429) {
    return new StorageUnavailable('The storage does not answer.', { cause: error });
  }
  return error;
}

/** Whether the error of `toStorageError` says that the store does not implement the request. */
export const isNotImplemented = (error: unknown): boolean =>
  statusOf(error) === 405 || (error instanceof StorageUnavailable && statusOf(error.cause) === 501);

function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error && '$metadata' in error)) return undefined;
  const metadata = error.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}
