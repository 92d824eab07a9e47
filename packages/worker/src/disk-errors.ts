import { StepError } from './step-error.ts';

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const FAILING: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOENT',
  'ENOTDIR',
]);

/** Maps an errno of the local file system to STORAGE_FULL or AWAY; null for any other error. */
export function diskError(error: unknown): StepError | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null;
  const code = String(error.code);
  if (FULL.has(code)) return new StepError('STORAGE_FULL', "The worker's disk is full.");
  return FAILING.has(code) ? new StepError('AWAY', "The worker's disk cannot be read or written.") : null;
}

/** Runs `work` and maps its file system errors to retryable step errors, so that they are not blamed on the provider. */
export async function mapDiskErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskError(error) ?? error;
  }
}
