import { destination, type Logger, pino } from 'pino';
import { describeError } from './describe-error.ts';

const BUFFERED_BYTES = 4096;
const FLUSH_MS = 100;
/** The level of pino. */
const WARN = 40;

/**
 * Writes lines together, at most 100 ms after they were logged; warnings and errors at once. A thread of its own for the log
 * costs more than the writes, and would lose lines when the process ends.
 */
export function openLog(level: string, descriptor: number = process.stdout.fd): Logger {
  const lines = destination({
    dest: descriptor,
    sync: true,
    minLength: BUFFERED_BYTES,
    periodicFlush: FLUSH_MS,
  });
  process.once('exit', () => lines.flushSync());
  const stream = {
    // Lets pino tell the level of each line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      lines.write(line);
      if (stream.lastLevel >= WARN) lines.flushSync();
    },
  };
  return pino({ level, serializers: { err: describeError } }, stream);
}
