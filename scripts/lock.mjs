import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const beatEveryMs = 2_000;
const silentForMs = 20_000;

/**
 * Runs `work` while holding a lock file. A lock is stale if its holder is dead or its heartbeat has stopped, which also
 * covers a process id that the system has reused.
 * @template T
 * @param {string} path
 * @param {(line: string) => void} log
 * @param {() => Promise<T>} work
 * @param {AbortSignal} [stop] aborts the wait for the lock
 * @returns {Promise<T>}
 */
export async function withLock(path, log, work, stop) {
  for (let waited = 0; !take(path); waited += 1) {
    if (isAbandoned(path)) rmSync(path, { force: true });
    else if (waited % 120 === 0) log('waiting for another process that holds the lock');
    await sleep(250, undefined, { signal: stop });
  }
  const heartbeat = setInterval(() => utimesSync(path, new Date(), new Date()), beatEveryMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    rmSync(path, { force: true });
  }
}

/** @param {string} path */
function take(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** @param {string} path */
function isAbandoned(path) {
  try {
    const holder = Number(readFileSync(path, 'utf8'));
    return Date.now() - statSync(path).mtimeMs > silentForMs || (holder > 0 && !isAlive(holder));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function hasCode(error, code) {
  return error instanceof Error && 'code' in error && error.code === code;
}
