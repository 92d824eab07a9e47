import { destination, type Logger, pino } from 'pino';
import { describeError } from './describe-error.ts';

/** What a pipe takes as a whole, so that lines of several processes are not mixed. */
const MAX_CHUNK = 4096;
const FLUSH_MS = 100;
/** How much is kept while a disk is full. */
const MAX_UNWRITTEN = 1024 * 1024;
/** The level of pino. */
const WARN = 40;

/**
 * Writes lines together, at most 100 ms after they were logged; warnings and errors at once. A thread of its own for the log
 * costs more than the writes, and would lose lines when the process ends.
 */
export function openLog(level: string, descriptor: number = process.stdout.fd): Logger {
  // `flush` does nothing if `minLength` is 0.
  const output = destination({ dest: descriptor, sync: true, minLength: 1, maxLength: MAX_UNWRITTEN });
  // A log that cannot be written does not end the service.
  output.on('error', () => {});
  // Once the buffer is full, nothing else retries the write.
  output.on('drop', () => output.flush());
  let chunk = '';
  let bytes = 0;
  const flush = () => {
    if (chunk === '') return;
    output.write(chunk);
    chunk = '';
    bytes = 0;
  };
  setInterval(flush, FLUSH_MS).unref();
  process.once('exit', flush);
  const stream = {
    // Lets pino tell the level of each line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      const length = Buffer.byteLength(line);
      if (bytes + length > MAX_CHUNK) flush();
      chunk += line;
      bytes += length;
      if (stream.lastLevel >= WARN) flush();
    },
  };
  return pino({ level, serializers: { err: describeError } }, stream);
}
