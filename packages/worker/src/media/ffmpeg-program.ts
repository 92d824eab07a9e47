import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Refused } from './refused.ts';

/** The end of what a program has written to standard error. */
const MAX_COMPLAINT = 2000;

/** Errors of the host, which the content must not be blamed for. */
const HOST_ERRORS =
  /No space left|Disk quota|Read-only file system|Permission denied|Cannot allocate memory|shared libraries|Unrecognized option|Option not found|Unknown (en|de)coder|No such filter/;

/** Runs FFmpeg or ffprobe, and yields what it writes to standard output. Throws Refused if it cannot read the content. */
export async function* runFfmpeg(program: string, words: readonly string[]): AsyncGenerator<Buffer> {
  const child = spawn(program, words, { env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-MAX_COMPLAINT);
  });
  const closed = once(child, 'close');
  try {
    yield* child.stdout;
    const [code, killedBy] = await closed;
    if (code === 0) return;
    if (killedBy !== null || HOST_ERRORS.test(complaint))
      throw new Error(`${program} was ended by ${killedBy ?? `exit code ${code}`}: ${complaint}`);
    throw new Refused('UNREADABLE', 'The file is damaged, or not of the type that it seems to be.');
  } finally {
    child.kill('SIGKILL');
  }
}
