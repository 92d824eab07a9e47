// `node packages/worker/benchmark/media.ts`: CPU time of the renditions of a video of 60 seconds in 1080p, with node-av and with the FFmpeg of
// the host, beside the plain `ffmpeg` command for the same. docs/benchmarks.md explains the figures.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { FF_ENCODER_AAC, FF_ENCODER_LIBX264 } from 'node-av';
import { findProgram } from '../../../scripts/find-program.ts';
import { makeProxy, readContent } from '../src/media/read-media.ts';
import type { Decoder } from '../src/media/read-order.ts';
import { makeClip } from '../src/media/test/make-clip.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
const seconds = Number(values.seconds);
const ffmpeg = findProgram(['ffmpeg']);
if (ffmpeg === undefined) throw new Error('the benchmark compares with ffmpeg: install it');
const RATE = 25;
const TICKS_PER_SECOND = 100;
const NEVER = new AbortController().signal;

/** The CPU seconds of the child processes that have ended, with theirs. */
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
    sound: { encoder: FF_ENCODER_AAC, format: 'sample_fmts=fltp:channel_layouts=stereo' },
  });
  const plain = (...outputs: string[]) =>
    promisify(execFile)(ffmpeg, ['-nostdin', '-v', 'error', '-y', '-threads', '1', '-i', input, ...outputs]);
  const encode = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-threads', '1', '-c:a', 'aac'];
  const plainProxy = (height: number) =>
    plain('-vf', `scale=-2:${height},format=yuv420p`, ...encode, '-movflags', '+faststart', join(folder, 'plain.mp4'));
  const plainPictures = async () => {
    const strip = ['-map', '0:v', '-vf', `fps=100/${seconds},scale=160:90,tile=10x10`, '-frames:v', '1'];
    const peaks = ['-map', '0:a', '-af', 'aresample=8000', '-ac', '1', '-f', 'f32le'];
    await plain('-ss', '1', '-frames:v', '1', '-vf', 'scale=640:-2', join(folder, 'poster.jpg'));
    await plain(...strip, join(folder, 'strip.jpg'), ...peaks, join(folder, 'peaks'));
  };
  const content = (decoder: Decoder) => ({ kind: 'VIDEO', mimeType: 'video/mp4', input, output, decoder }) as const;
  const ourProxy = (height: number) => (decoder: Decoder) =>
    makeProxy(content(decoder), { height, durationMs: seconds * 1000 }, NEVER);
  const rows = [
    [
      'facts, poster, thumbnail, filmstrip, waveform',
      (decoder: Decoder) => readContent(content(decoder), NEVER),
      plainPictures,
    ],
    ['proxy, 540p', ourProxy(540), () => plainProxy(540)],
    ['proxy, 1080p', ourProxy(1080), () => plainProxy(1080)],
  ] as const;
  console.log(
    `| ${seconds} seconds of 1080p, CPU seconds | node-av | FFMPEG_PATH | plain ffmpeg |\n| --- | --- | --- | --- |`,
  );
  for (const [name, ours, theirs] of rows) {
    const costs = [
      await costOf(() => ours({ name: 'node-av' })),
      await costOf(() => ours({ name: 'ffmpeg', path: ffmpeg })),
      await costOf(theirs),
    ];
    console.log(`| ${name} | ${costs.map((cost) => cost.toFixed(1)).join(' | ')} |`);
  }
  console.log(`load at the end: ${loadavg()[0]?.toFixed(0)}`);
} finally {
  await rm(folder, { recursive: true });
}
