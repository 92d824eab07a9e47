import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { runFfmpeg } from './ffmpeg-program.ts';
import { pictureFilter, proxyFilter, rotationOf } from './picture-filter.ts';
import { Refused } from './refused.ts';
import {
  type Course,
  DEMUXERS,
  type Fraction,
  type PacketTimes,
  PROXY_SOUND,
  PROXY_TIME_BASE,
  PROXY_VIDEO,
  type ProbedFile,
  type Renderer,
  type Size,
  type VideoSource,
  type VideoStream,
} from './video-source.ts';

/** Starting FFmpeg costs as much as decoding this part of a video. */
const START_SECONDS = 0.5;
/** Seeking in formats without an index is not exact, so that it goes to a little before the key frame. */
const SEEK_MARGIN_SECONDS = 0.5;

const fraction = z
  .string()
  .transform((text): Fraction => {
    const [num = 0, den = 0] = text.split(/[/:]/).map(Number);
    return { num, den };
  })
  .default({ num: 0, den: 0 });
const decimal = z
  .string()
  .default('')
  .transform((text) => Number.parseFloat(text) || 0);

const Stream = z.object({
  index: z.number().int(),
  codec_name: z.string().optional(),
  codec_type: z.string().optional(),
  width: z.number().default(0),
  height: z.number().default(0),
  pix_fmt: z.string().optional(),
  sample_aspect_ratio: fraction,
  r_frame_rate: fraction,
  avg_frame_rate: fraction,
  time_base: fraction,
  nb_frames: z.string().optional(),
  color_transfer: z.string().optional(),
  channels: z.number().default(0),
  disposition: z.object({ attached_pic: z.number().optional() }).optional(),
  /** Rotations are counterclockwise. */
  side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
});
type Stream = z.infer<typeof Stream>;

const Probe = z.object({
  streams: z.array(Stream),
  format: z.object({ format_name: z.string(), start_time: decimal, duration: decimal, bit_rate: decimal }),
});

/** One file, by no protocol but that of local files, and no format that refers to other files. */
const inputOf = (path: string) => ['-protocol_whitelist', 'file', '-format_whitelist', DEMUXERS, '-i', `file:${path}`];

/** Opens a video or sound with the FFmpeg of the host. */
export async function openWithFfmpeg(path: string, ffmpeg: string): Promise<VideoSource> {
  const ffprobe = join(dirname(ffmpeg), 'ffprobe');
  const probe = (words: string[]) => runFfmpeg(ffprobe, ['-v', 'error', ...words, ...inputOf(path)]);
  const answer = await text(probe(['-show_format', '-show_streams', '-of', 'json']));
  const { streams, format } = Probe.parse(JSON.parse(answer));
  // The cover of a song is not a video, and the cover of an animated AVIF is a stream of one frame.
  const videos = streams.filter(({ codec_type, disposition }) => codec_type === 'video' && !disposition?.attached_pic);
  const video = videos.find(({ nb_frames }) => nb_frames !== '1') ?? videos[0];
  const audio = streams.find(({ codec_type }) => codec_type === 'audio');

  async function* packets(): AsyncGenerator<PacketTimes> {
    const fields = ['-show_entries', 'packet=stream_index,pts,duration,flags', '-of', 'csv=p=0'];
    for await (const line of linesOf(probe(fields))) {
      const [index = '', time, duration, flags = ''] = line.split(',');
      const stream = index === String(video?.index) ? 'video' : index === String(audio?.index) ? 'audio' : null;
      const isKey = flags.startsWith('K');
      if (stream !== null) yield { stream, time: numberOf(time), duration: numberOf(duration) ?? 0, isKey };
    }
  }

  const probed: ProbedFile = {
    container: format.format_name,
    start: Math.max(0, format.start_time),
    duration: format.duration,
    bitRate: format.bit_rate,
    video: video === undefined ? null : videoStream(video),
    audio:
      audio === undefined
        ? null
        : { codec: audio.codec_name ?? null, channels: audio.channels, timeBase: audio.time_base },
    packets,
  };
  return {
    probed,
    createRenderer(course) {
      const given = { ffmpeg, path, video: video?.index, audio: audio?.index, lead: Math.min(0, format.start_time) };
      return new FfmpegRenderer(given, course);
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** Unlike `readline`, passes errors on. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

const numberOf = (text = ''): number | null => (/^-?\d+$/.test(text) ? Number(text) : null);

function videoStream(stream: Stream): VideoStream {
  const { rotation = 0 } = stream.side_data_list?.find((data) => data.rotation !== undefined) ?? {};
  const transfer = stream.color_transfer;
  return {
    codec: stream.codec_name ?? null,
    width: stream.width,
    height: stream.height,
    timeBase: stream.time_base,
    pixelAspect: stream.sample_aspect_ratio,
    averageRate: stream.avg_frame_rate,
    baseRate: stream.r_frame_rate,
    rotation: rotationOf(-rotation),
    hdr: transfer === 'smpte2084' || transfer === 'arib-std-b67' ? transfer : null,
    isEightBit420: stream.pix_fmt === 'yuv420p' || stream.pix_fmt === 'yuvj420p',
  };
}

interface Given {
  ffmpeg: string;
  path: string;
  /** The indexes of the streams. */
  video: number | undefined;
  audio: number | undefined;
  /** The time before 0 at which sound starts to prepare its decoder. FFmpeg would move everything by it. */
  lead: number;
}

class FfmpegRenderer implements Renderer {
  readonly #given: Given;
  readonly #course: Course;

  constructor(given: Given, course: Course) {
    this.#given = given;
    // FFmpeg turns pictures itself, and removes the rotation from what it writes.
    this.#course = { ...course, look: { ...course.look, rotation: 0 } };
  }

  /** Every option before the input is one of the decoders. */
  #run(words: readonly string[], seek = 0): AsyncGenerator<Buffer> {
    const { ffmpeg, path, lead } = this.#given;
    const log = ['-nostdin', '-hide_banner', '-v', 'error', '-filter_threads', '1', '-max_error_rate', '1', '-y'];
    const offset = lead < 0 ? ['-itsoffset', lead.toFixed(6)] : [];
    const from = seek > 0 ? ['-noaccurate_seek', '-ss', seek.toFixed(6)] : [];
    return runFfmpeg(ffmpeg, [...log, '-threads', '1', ...offset, ...from, ...inputOf(path), ...words]);
  }

  /** Content that has facts may lack anything that can be decoded: it has no pictures and no sound then. */
  async *#decode(words: readonly string[], seek?: number): AsyncGenerator<Buffer> {
    try {
      yield* this.#run([...words, 'pipe:1'], seek);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }

  /** Yields the frames that are shown at `from` and at each tick after it. */
  async *#frames(times: { from: number; rate: string; count: number }, size: Size): AsyncGenerator<Buffer> {
    const seek = Math.max(0, this.#keyBefore(times.from) - SEEK_MARGIN_SECONDS);
    // Rounding up gives each tick the last frame at or before it.
    const fps = `fps=${times.rate}:start_time=${(times.from - seek).toFixed(6)}:round=up`;
    const filter = `${fps},${pictureFilter(this.#course.look, size)},format=rgb24`;
    const words = ['-map', `0:${this.#given.video}`, '-vf', filter, '-frames:v', String(times.count)];
    const output = this.#decode([...words, '-f', 'rawvideo'], seek);
    const length = size.width * size.height * 3;
    for await (const frames of inMultiplesOf(length, output)) {
      for (let start = 0; start < frames.length; start += length) yield frames.subarray(start, start + length);
    }
  }

  #keyBefore = (seconds: number): number => this.#course.keys.findLast((time) => time <= seconds) ?? 0;

  async pictureAt(seconds: number, size: Size): Promise<Buffer | null> {
    for await (const frame of this.#frames({ from: seconds, rate: '1000', count: 1 }, size)) return frame;
    return null;
  }

  async *pictures({ intervalMs, count }: { intervalMs: number; count: number }, size: Size) {
    const times = Array.from({ length: count }, (_, index) => (index * intervalMs) / 1000);
    const seekSeconds = times.reduce((sum, time) => sum + START_SECONDS + time - this.#keyBefore(time), 0);
    if (seekSeconds < this.#course.seconds) {
      for (const time of times) yield await this.pictureAt(time, size);
      return;
    }
    let [last, made]: [Buffer | null, number] = [null, 0];
    for await (const frame of this.#frames({ from: 0, rate: `1000/${intervalMs}`, count }, size)) {
      yield frame;
      [last, made] = [frame, made + 1];
    }
    // The last frame stays until the end.
    for (; made < count; made++) yield last;
  }

  samples(rate: number): AsyncGenerator<Buffer> {
    const filter = `aresample=${rate},aformat=sample_fmts=flt:channel_layouts=mono`;
    return inMultiplesOf(4, this.#decode(['-map', `0:${this.#given.audio}`, '-af', filter, '-f', 'f32le']));
  }

  async writeProxy(path: string, size: Size): Promise<void> {
    const { video, audio } = this.#given;
    const { num, den } = PROXY_TIME_BASE;
    const { preset, crf, gop } = PROXY_VIDEO;
    const words = [
      ...['-map', `0:${video}`, '-vf', proxyFilter(this.#course.look, size)],
      // Every frame at its time: none is dropped or repeated for a constant rate.
      ...['-fps_mode', 'passthrough', '-enc_time_base', `${num}:${den}`, '-video_track_timescale', String(den)],
      ...['-c:v', 'libx264', '-preset', preset, '-crf', String(crf), '-g', String(gop), '-threads', '1'],
      ...(audio === undefined ? [] : ['-map', `0:${audio}`, '-c:a', 'aac', '-b:a', String(PROXY_SOUND.bits)]),
      ...(audio === undefined ? [] : ['-ac', '2', '-ar', String(PROXY_SOUND.rate)]),
      ...['-map_metadata', '-1', '-map_chapters', '-1', '-movflags', '+faststart', '-f', 'mp4', `file:${path}`],
    ];
    for await (const _ of this.#run(words));
  }
}

/** Yields bytes in multiples of a size. What is left at the end is dropped. */
async function* inMultiplesOf(size: number, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [waiting, length]: [Buffer[], number] = [[], 0];
  for await (const chunk of chunks) {
    waiting.push(chunk);
    length += chunk.length;
    if (length < size) continue;
    const bytes = Buffer.concat(waiting, length);
    const whole = length - (length % size);
    yield bytes.subarray(0, whole);
    [waiting, length] = [[bytes.subarray(whole)], length - whole];
  }
}
