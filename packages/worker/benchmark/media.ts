// `node packages/worker/benchmark/media.ts`: CPU time of the renditions of a video of 60 seconds in 1080p, beside a plain transcode with
// the same library. docs/benchmarks.md explains the figures.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { FF_ENCODER_LIBX264 } from 'node-av';
import { makeProxy, readContent } from '../src/media/read-media.ts';
import { makeClip } from '../src/media/test/make-clip.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
const seconds = Number(values.seconds);
const decoder = { name: 'node-av' } as const;
const RATE = 25;
const TICKS_PER_SECOND = 100;
const NEVER = new AbortController().signal;

/** The CPU seconds of the child processes that have ended. */
function childSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

async function costOf(work: () => Promise<unknown>): Promise<number> {
  const before = childSeconds();
  await work();
  return childSeconds() - before;
}

const folder = await mkdtemp(join(tmpdir(), 'media-benchmark-'));
try {
  const [input, output] = [join(folder, 'input.mp4'), join(folder, 'output')];
  await mkdir(output);
  await makeClip(input, FF_ENCODER_LIBX264, {
    frames: seconds * RATE,
    width: 1920,
    height: 1080,
    // Flat bars would cost almost nothing.
    filter: 'noise=alls=6:allf=t',
    options: { preset: 'ultrafast', crf: '26' },
  });
  const content = { kind: 'VIDEO', mimeType: 'video/mp4', input, output, decoder } as const;
  const plain = (work: string) =>
    promisify(execFile)(process.execPath, [
      join(import.meta.dirname, 'plain.ts'),
      work,
      input,
      join(folder, work === 'pictures' ? 'plain.jpg' : 'plain.mp4'),
    ]);
  const durationMs = seconds * 1000;
  const rows = [
    ['facts, poster, thumbnail and filmstrip', () => readContent(content, NEVER), () => plain('pictures')],
    ['proxy, 1080p', () => makeProxy(content, { height: 1080, durationMs }, NEVER), () => plain('1080')],
    ['proxy, 540p', () => makeProxy(content, { height: 540, durationMs }, NEVER), () => plain('540')],
  ] as const;
  console.log(`| ${seconds} seconds of 1080p | CPU seconds | plain | ratio |\n| --- | --- | --- | --- |`);
  for (const [name, ours, theirs] of rows) {
    const [own, other] = [await costOf(ours), await costOf(theirs)];
    console.log(`| ${name} | ${own.toFixed(1)} | ${other.toFixed(1)} | ${(own / other).toFixed(2)} |`);
  }
} finally {
  await rm(folder, { recursive: true });
}
