import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Program } from './processes.ts';
import { Service } from './service.ts';

const WAITING = 10_000;
const READS = 500;

/** The peak memory of a process in megabytes. */
async function peakOf({ child }: Program): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** The median latency of reading a file in milliseconds. */
async function readingTime(service: Service, id: string): Promise<number> {
  const times: number[] = [];
  for (let read = 0; read < READS; read++) {
    const started = performance.now();
    await service.file(id);
    times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b)[READS / 2] ?? 0;
}

test('10,000 queued generations neither slow down reads nor grow the memory of the worker', {
  timeout: 600_000,
}, async () => {
  await using service = await Service.start({ GENERATION_QUEUE_LIMIT: String(WAITING + 100) });
  const stall = () => service.generate('markdown', '[stall] A page.');
  const first = await stall();
  const alone = await readingTime(service, first);
  for (let made = 1; made < WAITING; made += 50) {
    await Promise.all(Array.from({ length: Math.min(50, WAITING - made) }, stall));
  }
  const worker = await service.startWorker('one');
  await service.waitForRunning(first);
  const amongMany = await readingTime(service, first);
  const peak = await peakOf(worker);
  console.log(
    `GET /api/files/:id takes ${alone.toFixed(1)} ms alone and ${amongMany.toFixed(1)} ms with ${WAITING} waiting; ` +
      `the worker held at most ${peak.toFixed(0)} MB`,
  );
  // A ratio of two medians of the same run. A cost that grows with the queue would exceed it by far.
  expect(amongMany).toBeLessThan(alone * 5 + 5);
  expect(peak).toBeLessThan(512);
});
