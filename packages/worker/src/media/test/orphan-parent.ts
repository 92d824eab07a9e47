import { runIsolated } from '../run-isolated.ts';

/** A worker that is killed while its program runs. */
const [path = ''] = process.argv.slice(2);
const limits = { milliseconds: 600_000, memoryMegabytes: 1024, outputBytes: 1024 };
await runIsolated({ program: 'test/endless', words: [path], limits, signal: new AbortController().signal });
