import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readOutput } from './processes.ts';

const memory = resolve(import.meta.dirname, '../packages/server/benchmark/memory.ts');

test.each([['SQLite'], ['Postgres', '--postgres']])(
  '100,000 mixed requests over 16 connections on %s leave the server below 200 MB, and its memory flat',
  { timeout: 600_000 },
  async (_, ...options) => {
    // It exits with 1, which throws here, if a target is missed.
    const report = await readOutput(process.execPath, [memory, '--requests', '100000', ...options]);
    console.log(report);
    expect(report).toContain('peak');
  },
);
