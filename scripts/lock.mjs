import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const beatEveryMs = 2_000;
const silentForMs = 20_000;

/**
 * Runs `work` while holding a lock file. A holder that died, or whose id another process has got since, is passed over.
 * @template T
 * @param {string} path
 * @param {(line: string) => void} say
 * @param {() => Promise<T>} work
 * @param {AbortSignal} [stop] ends the waiting
 * @returns {Promise<T>}
 */
export async function withLock(path, say, work, stop) {
  for (let waited = 0; !take(path); waited += 1) {
    if (isAbandoned(path)) rmSync(path, { force: true });
    else if (waited % 120 === 0) say('another process is at it: waiting');
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
