import type { CodecParameters, Decoder, Frame, Stream } from 'node-av';
import { type Av, AvFile } from './av-file.ts';
import { writeAvProxy } from './av-proxy.ts';
import { pictureFilter, rotationOf } from './picture-filter.ts';
import {
  type Course,
  type Look,
  type PacketTimes,
  type ProbedFile,
  type Renderer,
  type Size,
  secondsOf,
  type VideoSource,
  type VideoStream,
} from './video-source.ts';

/** Opens a video or sound with the FFmpeg of the package node-av. */
export async function openWithNodeAv(path: string): Promise<VideoSource> {
  const file = await AvFile.open(path);
  const renderers: AvRenderer[] = [];
  return {
    probed: probe(file),
    createRenderer(course) {
      const renderer = new AvRenderer(file, path, course);
      renderers.push(renderer);
      return renderer;
    },
    async [Symbol.asyncDispose]() {
      for (const renderer of renderers) await renderer[Symbol.asyncDispose]();
      await file[Symbol.asyncDispose]();
    },
  };
}

function probe(file: AvFile): ProbedFile {
  const { av, demuxer, video, audio } = file;
  return {
    container: demuxer.formatName,
    start: demuxer.startTime || 0,
    duration: demuxer.duration || 0,
    // The library gives thousands of bits per second.
    bitRate: demuxer.bitRate * 1000,
    video: video === undefined ? null : videoStream(video, av),
    audio:
      audio === undefined
        ? null
        : {
            codec: av.avGetCodecName(audio.codecpar.codecId),
            channels: audio.codecpar.channels,
            timeBase: audio.timeBase,
          },
    async *packets(): AsyncGenerator<PacketTimes> {
      for await (const { streamIndex, pts, duration, isKeyframe } of file.packets()) {
        const stream = streamIndex === video?.index ? 'video' : streamIndex === audio?.index ? 'audio' : null;
        const time = pts === av.AV_NOPTS_VALUE ? null : Number(pts);
        if (stream !== null) yield { stream, time, duration: Number(duration), isKey: isKeyframe };
      }
    },
  };
}

function videoStream({ codecpar, timeBase, sampleAspectRatio, avgFrameRate, rFrameRate }: Stream, av: Av): VideoStream {
  return {
    codec: av.avGetCodecName(codecpar.codecId),
    width: codecpar.width,
    height: codecpar.height,
    timeBase,
    pixelAspect: sampleAspectRatio,
    averageRate: avgFrameRate,
    baseRate: rFrameRate,
    rotation: rotationIn(codecpar, av),
    hdr: hdrOf(codecpar, av),
    isEightBit420: [av.AV_PIX_FMT_YUV420P, av.AV_PIX_FMT_YUVJ420P].some((known) => known === codecpar.format),
  };
}

function rotationIn(codecpar: CodecParameters, { AV_PKT_DATA_DISPLAYMATRIX }: Av): Look['rotation'] {
  const matrix = codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX);
  if (matrix === null || matrix.length < 20) return 0;
  const [a, b] = [matrix.readInt32LE(0), matrix.readInt32LE(4)];
  return rotationOf((Math.atan2(b, a) * 180) / Math.PI);
}

function hdrOf({ colorTrc }: CodecParameters, av: Av): Look['hdr'] {
  if (colorTrc === av.AVCOL_TRC_SMPTE2084) return 'smpte2084';
  return colorTrc === av.AVCOL_TRC_ARIB_STD_B67 ? 'arib-std-b67' : null;
}

/** Takes pictures out of a video, and decodes its sound. */
class AvRenderer implements Renderer, AsyncDisposable {
  readonly #file: AvFile;
  readonly #path: string;
  readonly #course: Course;
  #decoder: Decoder | null = null;
  #frames: AsyncGenerator<Frame> | null = null;
  #last: Frame | null = null;
  /** The frame after the last. */
  #ahead: Frame | null = null;

  constructor(file: AvFile, path: string, course: Course) {
    this.#file = file;
    this.#path = path;
    this.#course = course;
  }

  async pictureAt(seconds: number, size: Size): Promise<Buffer | null> {
    const { video } = this.#file;
    if (video === undefined) return null;
    this.#decoder ??= await this.#file.decoderOf(video);
    const decoding = { stream: video, decoder: this.#decoder };
    const isAfter = (frame: Frame | null) => frame === null || this.#timeOf(frame, video) > seconds + 0.001;
    // Going on is cheaper than decoding from the key frame again, unless another one is between.
    const key = this.#course.keys.findLast((time) => time <= seconds) ?? -Infinity;
    const canGoOn = this.#last !== null && !isAfter(this.#last) && this.#timeOf(this.#last, video) >= key;
    if (!canGoOn) await this.#start(seconds, decoding);
    await this.#goOnUntil(isAfter);
    // Formats without an index may continue after the key frame that is needed. The last start is before the beginning.
    for (let back = 1; isAfter(this.#last) && back < 4 * (seconds + 1); back *= 4) {
      await this.#start(seconds - back, decoding);
      await this.#goOnUntil(isAfter);
    }
    return this.#last === null ? null : this.#toPixels(this.#last, size);
  }

  async *pictures({ intervalMs, count }: { intervalMs: number; count: number }, size: Size) {
    for (let index = 0; index < count; index++) yield await this.pictureAt((index * intervalMs) / 1000, size);
  }

  #timeOf = (frame: Frame, { timeBase }: Stream): number =>
    secondsOf(frame.pts, timeBase) - (this.#file.demuxer.startTime || 0);

  /** Decoding starts at the last key frame before a time. */
  async #start(seconds: number, { stream, decoder }: { stream: Stream; decoder: Decoder }): Promise<void> {
    await this.#stop();
    await this.#file.seek(stream, seconds);
    decoder.getCodecContext()?.flushBuffers();
    this.#frames = this.#file.frames(stream, decoder, true);
  }

  async #stop(): Promise<void> {
    await this.#frames?.return(undefined);
    for (const frame of [this.#last, this.#ahead]) frame?.free();
    [this.#frames, this.#last, this.#ahead] = [null, null, null];
  }

  /** Decodes until the last frame is the one that is shown at a time, or the first after it. */
  async #goOnUntil(isAfter: (frame: Frame) => boolean): Promise<void> {
    for (;;) {
      this.#ahead ??= (await this.#frames?.next())?.value ?? null;
      if (this.#ahead === null || (this.#last !== null && isAfter(this.#ahead))) return;
      this.#last?.free();
      [this.#last, this.#ahead] = [this.#ahead, null];
    }
  }

  async #toPixels(frame: Frame, size: Size): Promise<Buffer | null> {
    const filter = this.#file.av.FilterAPI.create(`${pictureFilter(this.#course.look, size)},format=rgb24`);
    const [scaled] = await filter.processAll(frame);
    if (scaled === undefined) return null;
    const pixels = scaled.toBuffer();
    scaled.free();
    filter.close();
    return pixels;
  }

  async *samples(rate: number): AsyncGenerator<Buffer> {
    const { audio, av } = this.#file;
    if (audio === undefined) return;
    await this.#file.seek(audio, 0);
    const decoder = await this.#file.decoderOf(audio);
    const filter = av.FilterAPI.create(`aresample=${rate},aformat=sample_fmts=flt:channel_layouts=mono`);
    for await (const frame of this.#file.frames(audio, decoder)) {
      for (const resampled of await filter.processAll(frame)) {
        yield resampled.toBuffer();
        resampled.free();
      }
      frame.free();
    }
    filter.close();
    decoder.close();
  }

  writeProxy = (path: string, size: Size): Promise<void> => writeAvProxy(this.#path, path, this.#course.look, size);

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    this.#decoder?.close();
  }
}
