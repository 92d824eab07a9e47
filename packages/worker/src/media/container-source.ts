import {
  ADTS,
  EncodedPacketSink,
  FilePathSource,
  FLAC,
  Input,
  type InputAudioTrack,
  type InputTrack,
  type InputVideoTrack,
  MATROSKA,
  MP3,
  MP4,
  MPEG_TS,
  OGG,
  QTFF,
  UnsupportedInputFormatError,
  WAVE,
  WEBM,
} from 'mediabunny';
import { Refused } from './refused.ts';
import type { Fraction, Look, PacketTimes, ProbedFile, SoundStream, VideoSource, VideoStream } from './video-source.ts';

/** Without playlists, which name other files. */
const FORMATS = [MP4, QTFF, MATROSKA, WEBM, MP3, WAVE, OGG, FLAC, ADTS, MPEG_TS];

/** The names of codecs in FFmpeg, where they differ. */
const CODECS: Record<string, string> = {
  avc: 'h264',
  ulaw: 'pcm_mulaw',
  alaw: 'pcm_alaw',
  'pcm-u8': 'pcm_u8',
  'pcm-s8': 'pcm_s8',
};
/** Codecs that only the container names. */
const SAMPLE_ENTRIES: Record<string, string> = {
  AVdh: 'dnxhd',
  AVdn: 'dnxhd',
  mp4v: 'mpeg4',
  m2v1: 'mpeg2video',
  mjpa: 'mjpeg',
  jpeg: 'mjpeg',
};

const TRANSFERS: Record<string, Look['hdr']> = { pq: 'smpte2084', hlg: 'arib-std-b67' };

/** Opens a video or sound without a decoder: the library reads containers in JavaScript. */
export async function openContainer(path: string): Promise<VideoSource> {
  const input = new Input({ source: new FilePathSource(path), formats: FORMATS });
  const probed = await probe(input).catch((error: unknown) => {
    if (error instanceof UnsupportedInputFormatError) return null;
    throw error;
  });
  // It leaves out streams that it does not know.
  if (probed === null || (probed.video === null && probed.audio === null))
    throw new Refused(
      'NO_DECODER',
      'The workers have no decoder for this format: install the package node-av or set FFMPEG_PATH, and rebuild.',
    );
  return {
    probed,
    createRenderer: () => null,
    async [Symbol.asyncDispose]() {
      input.dispose();
    },
  };
}

async function probe(input: Input): Promise<ProbedFile> {
  const format = await input.getFormat();
  const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
  const tracks = [video, audio].filter((track) => track !== null);
  const starts = await Promise.all(tracks.map((track) => track.getFirstTimestamp()));
  const resolutions = new Map<InputTrack, number>();
  for (const track of tracks) resolutions.set(track, await track.getTimeResolution());
  return {
    container: format.name,
    // Packets before 0 prepare the decoder and are not shown.
    start: starts.length === 0 ? 0 : Math.max(0, Math.min(...starts)),
    duration: 0,
    bitRate: 0,
    video: video && (await videoStream(video)),
    audio: audio && (await soundStream(audio)),
    async *packets(): AsyncGenerator<PacketTimes> {
      for (const track of tracks) {
        // Durations may be fractions of a tick.
        const toTicks = (seconds: number) => Math.floor(seconds * (resolutions.get(track) ?? 1) + 0.01);
        const sink = new EncodedPacketSink(track);
        for await (const packet of sink.packets(undefined, undefined, { metadataOnly: true })) {
          const [time, duration] = [toTicks(packet.timestamp), toTicks(packet.duration)];
          yield { stream: track === video ? 'video' : 'audio', time, duration, isKey: packet.type === 'key' };
        }
      }
    },
  };
}

async function videoStream(track: InputVideoTrack): Promise<VideoStream> {
  const { underlyingFrameRate, averageFrameRate } = await track.computeFrameRateMetrics();
  const { transfer } = await track.getColorSpace();
  return {
    codec: await codecOf(track),
    width: await track.getCodedWidth(),
    height: await track.getCodedHeight(),
    timeBase: { num: 1, den: await track.getTimeResolution() },
    pixelAspect: await track.getPixelAspectRatio(),
    averageRate: fractionOf(averageFrameRate),
    baseRate: fractionOf(underlyingFrameRate ?? 0),
    rotation: await track.getRotation(),
    hdr: TRANSFERS[transfer ?? ''] ?? null,
    isEightBit420: false,
  };
}

async function soundStream(track: InputAudioTrack): Promise<SoundStream> {
  const timeBase = { num: 1, den: await track.getTimeResolution() };
  return { codec: await codecOf(track), channels: await track.getNumberOfChannels(), timeBase };
}

async function codecOf(track: InputTrack): Promise<string | null> {
  const codec = await track.getCodec();
  if (codec === null) return SAMPLE_ENTRIES[String(await track.getInternalCodecId())] ?? null;
  return CODECS[codec] ?? codec.replace(/^pcm-(.\d+)(be)?$/, (_, kind: string, end = 'le') => `pcm_${kind}${end}`);
}

/** Returns a whole rate, one of NTSC such as 30000/1001, or thousandths. */
function fractionOf(rate: number): Fraction {
  if (!Number.isFinite(rate) || rate <= 0) return { num: 0, den: 0 };
  for (const [factor, den] of [
    [1, 1],
    [1000, 1001],
  ] as const) {
    const whole = Math.round((rate * den) / factor);
    if (whole > 0 && Math.abs((whole * factor) / den / rate - 1) < 0.0001) return { num: whole * factor, den };
  }
  return { num: Math.round(rate * 1000), den: 1000 };
}
