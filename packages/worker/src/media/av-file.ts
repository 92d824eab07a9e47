import type { Decoder, Demuxer, Frame, Packet, Stream } from 'node-av';
import { DEMUXERS } from './video-source.ts';

export type Av = typeof import('node-av');

/** Loads FFmpeg, which is an optional dependency. */
export async function loadAv(): Promise<Av> {
  const av = await import('node-av');
  av.Log.setLevel(av.AV_LOG_QUIET);
  return av;
}

/** An open video or sound file. */
export class AvFile implements AsyncDisposable {
  readonly av: Av;
  readonly demuxer: Demuxer;
  readonly video: Stream | undefined;
  readonly audio: Stream | undefined;
  readonly #packet: Packet;

  private constructor(av: Av, demuxer: Demuxer) {
    this.av = av;
    this.demuxer = demuxer;
    // The cover of a song is not a video.
    const isCover = (stream: Stream) => (stream.disposition & av.AV_DISPOSITION_ATTACHED_PIC) !== 0;
    const videos = demuxer.streams
      .filter(({ codecpar }) => codecpar.codecType === av.AVMEDIA_TYPE_VIDEO)
      .filter((stream) => !isCover(stream));
    // The cover of an animated AVIF is a stream of one frame.
    this.video = videos.find(({ nbFrames }) => Number(nbFrames) !== 1) ?? videos[0];
    this.audio = demuxer.audio();
    this.#packet = new av.Packet();
    this.#packet.alloc();
  }

  /** Opens a file. No protocol but that of local files is allowed, and no format that refers to other files. */
  static async open(path: string): Promise<AvFile> {
    const av = await loadAv();
    const options = { protocol_whitelist: 'file', format_whitelist: DEMUXERS };
    return new AvFile(av, await av.Demuxer.open(path, { options }));
  }

  /** Yields the packets from the current position. Each is valid until the next. */
  async *packets(): AsyncGenerator<Packet> {
    const context = this.demuxer.getFormatContext();
    while ((await context.readFrame(this.#packet)) >= 0) {
      try {
        yield this.#packet;
      } finally {
        this.#packet.unref();
      }
    }
  }

  /** Continues at the last key frame before a time. */
  async seek(stream: Stream, seconds: number): Promise<void> {
    const { num, den } = stream.timeBase;
    const start = this.demuxer.startTime || 0;
    const timestamp = BigInt(Math.round(((seconds + start) * den) / num));
    await this.demuxer.getFormatContext().seekFrame(stream.index, timestamp, this.av.AVSEEK_FLAG_BACKWARD);
  }

  decoderOf = (stream: Stream): Promise<Decoder> => this.av.Decoder.create(stream, { exitOnError: false });

  /** Yields the frames of a stream from the current position, or from the next key frame. The reader frees them. */
  async *frames(stream: Stream, decoder: Decoder, fromKey = false): AsyncGenerator<Frame> {
    let isDecodable = !fromKey;
    for await (const packet of this.packets()) {
      if (packet.streamIndex !== stream.index) continue;
      isDecodable ||= packet.isKeyframe;
      if (isDecodable) yield* await decoder.decodeAll(packet);
    }
    yield* await decoder.decodeAll(null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#packet.free();
    await this.demuxer.close();
  }
}
