export interface Fraction {
  num: number;
  den: number;
}

/** A packet of one of the two streams that are read. */
export interface PacketTimes {
  stream: 'video' | 'audio';
  /** In units of the time base of the stream; null if the container has none. */
  time: number | null;
  duration: number;
  isKey: boolean;
}

/** How the pictures of a video become what a viewer sees. */
export interface Look {
  /** By how many degrees they are turned clockwise. */
  rotation: 0 | 90 | 180 | 270;
  /** The transfer function, by its name in FFmpeg; null if it is not HDR. */
  hdr: 'smpte2084' | 'arib-std-b67' | null;
}

export interface VideoStream extends Look {
  /** By its name in FFmpeg. */
  codec: string | null;
  /** In pixels of the content, before rotation. */
  width: number;
  height: number;
  timeBase: Fraction;
  /** The width of a pixel by its height. */
  pixelAspect: Fraction;
  /** What the container says; 0/0 if it says nothing. */
  averageRate: Fraction;
  /** The lowest rate at which all frames have exact times; 0/0 if it is unknown. */
  baseRate: Fraction;
  /** Whether the pixels are 4:2:0 of 8 bits, the only ones that all browsers show. */
  isEightBit420: boolean;
}

export interface SoundStream {
  codec: string | null;
  channels: number;
  timeBase: Fraction;
}

/** What the container of a video or sound says, without decoding it. */
export interface ProbedFile {
  /** By its name in FFmpeg. */
  container: string;
  /** The time of the first packet, in seconds. All other times are relative to it. */
  start: number;
  /** In seconds; 0 if it is unknown. */
  duration: number;
  /** In bits per second; 0 if it is unknown. */
  bitRate: number;
  video: VideoStream | null;
  audio: SoundStream | null;
  /** Yields the packets of both streams once. */
  packets(): AsyncIterable<PacketTimes>;
}

export interface Size {
  width: number;
  height: number;
}

/** What a renderer has to know about a video or sound. */
export interface Course {
  seconds: number;
  look: Look;
  /** The times of the key frames in seconds, in the order of the file. */
  keys: number[];
}

/** Decodes a video or sound. Pictures are as shown, in RGB of 8 bits. */
export interface Renderer {
  /** Returns the frame that is shown at a time, or the last before the end; null if none can be decoded. */
  pictureAt(seconds: number, size: Size): Promise<Buffer | null>;
  /** Yields the frames that are shown at each interval from the start. */
  pictures(times: { intervalMs: number; count: number }, size: Size): AsyncIterable<Buffer | null>;
  /** Yields the sound as floating-point numbers of one channel. */
  samples(rate: number): AsyncIterable<Buffer>;
  /** Writes an MP4 file of H.264 and AAC with the frames of the original at their times. */
  writeProxy(path: string, size: Size): Promise<void>;
}

/** An open video or sound file. */
export interface VideoSource extends AsyncDisposable {
  probed: ProbedFile;
  /** Returns null if the worker has no decoder. */
  createRenderer(course: Course): Renderer | null;
}

/**
 * The demuxers of FFmpeg that are allowed: containers of one file. Playlists and scripts (hls, dash, concat, image sequences)
 * would open other files. Streams without a container have no times.
 */
export const DEMUXERS =
  'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mxf,avi,asf,mpeg,mpegts,ogg,flv,mp3,wav,w64,aiff,aac,flac,ac3,eac3,amr,caf,dv,gxf';

/** The samples per channel of a proxy. */
export const PROXY_SOUND = { rate: 48_000, bits: 160_000 } as const;
/** A finer time base than that of any source, so that frames keep their times exactly enough to be found again. */
export const PROXY_TIME_BASE: Fraction = { num: 1, den: 90_000 };
export const PROXY_VIDEO = { preset: 'veryfast', crf: 23, gop: 48 } as const;

export const secondsOf = (time: bigint | number, { num, den }: Fraction): number => (Number(time) * num) / den;
