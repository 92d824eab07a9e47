import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { field } from './json-field.ts';

const levelNames: ReadonlyMap<unknown, string> = new Map([
  [10, 'trace'],
  [20, 'debug'],
  [30, 'info'],
  [40, 'WARN'],
  [50, 'ERROR'],
  [60, 'FATAL'],
]);

/** Prints the log of a child process in a compact form: time, process, level, message. */
export function printLog(who: string, output: Readable): void {
  createInterface({ input: output }).on('line', (line) => {
    if (line.trim() !== '') process.stdout.write(`${readable(who, line)}\n`);
  });
}

export function readable(who: string, line: string): string {
  const entry = parseEntry(line);
  // Other lines are plain text, such as a configuration error or a crash.
  if (!entry) return `${who}: ${line}`;
  const time = new Date(typeof entry['time'] === 'number' ? entry['time'] : Date.now()).toTimeString().slice(0, 8);
  const level = levelNames.get(entry['level']) ?? String(entry['level']);
  const text = [time, who.padEnd(6), level.padEnd(5), entry['msg'] ?? '', request(entry)].filter((part) => part !== '');
  const error = field(entry, 'err');
  const detail = field(error, 'stack') ?? field(error, 'message');
  return detail === undefined ? text.join(' ') : `${text.join(' ')}\n  ${String(detail).replaceAll('\n', '\n  ')}`;
}

function request(entry: object): string {
  const method = field(field(entry, 'req'), 'method');
  if (method === undefined) return '';
  const status = field(field(entry, 'res'), 'statusCode') ?? '';
  return `${method} ${field(field(entry, 'req'), 'url')} ${status} ${field(entry, 'responseTime') ?? '?'} ms`;
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const entry: Record<string, unknown> = JSON.parse(line);
    return 'level' in entry ? entry : undefined;
  } catch {
    return undefined;
  }
}
