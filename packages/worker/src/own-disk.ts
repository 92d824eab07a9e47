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

/** What went wrong with a file of this host; null for any other failure. */
export function diskTrouble(error: unknown): StepError | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null;
  const code = String(error.code);
  if (FULL.has(code)) return new StepError('STORAGE_FULL', "The worker's own disk is full.");
  return FAILING.has(code) ? new StepError('AWAY', "The worker's own disk cannot be used.") : null;
}

/** Tells trouble with the worker's own disk as what it is: not the provider's, and not for ever. */
export async function onOwnDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskTrouble(error) ?? error;
  }
}
