import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { pictureFilter } from './picture-filter.ts';
import type { Decoder } from './read-order.ts';

const CHECK_MS = 20_000;
const NEEDED = 'write the path of ffmpeg 5.1 or later with libx264 and zimg, with ffprobe in the same directory';
/** A black frame of HDR, 16 pixels wide. */
const FRAME = Buffer.alloc(16 * 16 * 3);
const RAW = ['-f', 'rawvideo', '-pix_fmt', 'yuv420p10le', '-video_size', '16x16', '-i', 'pipe:0'];

/** Returns the decoder for video and sound: the FFmpeg of the host if there is one, else the package node-av if it is installed. */
export function findDecoder(ffmpegPath: string | null): Decoder {
  if (ffmpegPath !== null) return { name: 'ffmpeg', path: ffmpegPath };
  try {
    import.meta.resolve('node-av');
    return { name: 'node-av' };
  } catch {
    return { name: 'none' };
  }
}

/** Returns what keeps an FFmpeg from making renditions, and what to do; null if nothing does. Encodes a frame of HDR. */
export function findFfmpegFault(path: string): string | null {
  const colours = 'setparams=color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc';
  const filter = `${colours},${pictureFilter({ rotation: 0, hdr: 'smpte2084' }, { width: 16, height: 16 })}`;
  const encode = [
    '-vf',
    filter,
    '-pix_fmt',
    'yuv420p',
    '-fps_mode',
    'passthrough',
    '-c:v',
    'libx264',
    '-f',
    'null',
    '-',
  ];
  const programs = [
    { program: join(dirname(path), 'ffprobe'), words: ['-version'] },
    { program: path, words: ['-v', 'error', ...RAW, ...encode] },
  ];
  for (const { program, words } of programs) {
    const ended = spawnSync(program, words, { env: {}, input: FRAME, timeout: CHECK_MS, encoding: 'utf8' });
    // One that ends before it has read the frame also has an error, EPIPE.
    if (ended.status === 0) continue;
    if (ended.status === null) return `${program} cannot be run (${ended.error?.message ?? ended.signal}); ${NEEDED}`;
    return `${program} cannot make renditions (${ended.stderr.trim().split('\n')[0]}); ${NEEDED}`;
  }
  return null;
}
