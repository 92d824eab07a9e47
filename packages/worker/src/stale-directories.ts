import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDirectory } from './remove-directory.ts';

/** Removes the work directories of worker processes that no longer run. */
export async function removeStaleDirectories(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const pid = /^review-worker-(\d+)$/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    await removeDirectory(join(folder, name));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs under another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
