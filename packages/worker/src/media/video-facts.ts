import { type MediaFacts, NO_FACTS } from '@review/contract';
import type { Stream } from 'node-av';
import { type AvFile, secondsOf } from './av-file.ts';
import { hdrOf, type Look, rotationOf } from './picture-filter.ts';
import { Refused } from './read-order.ts';

/** Frames may differ by this part of the usual interval, or by rounding, in a video of a constant rate. */
const TOLERANCE = 0.1;
const BROWSER_VIDEO = ['h264', 'vp8', 'vp9', 'av1'];
const BROWSER_AUDIO = ['aac', 'mp3', 'opus', 'vorbis', 'flac'];
const MAX_BROWSER_BITS = 20_000_000;

/** What is known about a video or sound, and what its renditions need. */
export interface AvFacts {
  facts: MediaFacts;
  seconds: number;
  look: Look;
  /** The times of the key frames in seconds, in the order of the file. */
  keys: number[];
  /** The heights of the proxies that browsers need. */
  proxies: number[];
}

/** Reads all packets once, without decoding them: only that gives the exact number of frames. */
export async function readFacts(file: AvFile, maxPixels: number): Promise<AvFacts> {
  const { av, video, audio, demuxer } = file;
  const [times, keys]: [number[], number[]] = [[], []];
  let [end, frameCount] = [0, 0];
  for await (const packet of file.packets()) {
    const stream = [video, audio].find((each) => each?.index === packet.streamIndex);
    if (stream === undefined) continue;
    if (stream === video) frameCount += 1;
    if (packet.pts === av.AV_NOPTS_VALUE) continue;
    end = Math.max(end, secondsOf(packet.pts + packet.duration, stream.timeBase) - (demuxer.startTime || 0));
    if (stream !== video) continue;
    times.push(Number(packet.pts));
    if (packet.isKeyframe) keys.push(secondsOf(packet.pts, stream.timeBase) - (demuxer.startTime || 0));
  }
  if (video === undefined && audio === undefined)
    throw new Refused('UNREADABLE', 'The file has neither video nor sound.');
  const facts: MediaFacts = { ...NO_FACTS };
  if (audio !== undefined) {
    facts.audioCodec = av.avGetCodecName(audio.codecpar.codecId);
    facts.audioChannels = audio.codecpar.channels;
  }
  const look: Look = { rotation: 0, hdr: null };
  if (video !== undefined) {
    const { codecpar } = video;
    if (codecpar.width * codecpar.height > maxPixels)
      throw new Refused('LIMIT_EXCEEDED', `The video has more than ${maxPixels / 1e6} megapixels.`);
    look.rotation = rotationOf(codecpar, av);
    look.hdr = hdrOf(codecpar, av);
    Object.assign(facts, shownSize(video, look.rotation));
    facts.frameCount = frameCount;
    // Only formats of a constant rate omit times.
    facts.variableFrameRate = times.length === frameCount && isVariable(times);
    facts.frameRate = rateOf(video, facts.variableFrameRate, times.length === frameCount ? times : []);
    facts.videoCodec = av.avGetCodecName(codecpar.codecId);
    facts.hdr = look.hdr !== null;
    // Some formats omit how long the last frame is shown.
    const { numerator, denominator } = facts.frameRate ?? { numerator: 1, denominator: 0 };
    if (!facts.variableFrameRate) end = Math.max(end, (frameCount * denominator) / numerator);
  }
  const seconds = end > 0 ? end : Math.max(0, demuxer.duration || 0);
  facts.durationMs = Math.round(seconds * 1000);
  const isSmall = Math.min(facts.width ?? 0, facts.height ?? 0) <= 540;
  return { facts, seconds, look, keys, proxies: canBrowsersPlay(file, facts) ? [] : isSmall ? [540] : [1080, 540] };
}

function shownSize(stream: Stream, rotation: Look['rotation']): { width: number; height: number } {
  const { codecpar, sampleAspectRatio } = stream;
  const { num, den } = sampleAspectRatio;
  // Pixels that are not square are shown as squares.
  const wide = Math.round(codecpar.width * (num > 0 && den > 0 ? num / den : 1));
  return rotation === 90 || rotation === 270
    ? { width: codecpar.height, height: wide }
    : { width: wide, height: codecpar.height };
}

function intervalsOf(times: readonly number[]): number[] {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted.slice(1).map((time, index) => time - (sorted[index] ?? 0));
}

function isVariable(times: readonly number[]): boolean {
  const intervals = intervalsOf(times).toSorted((a, b) => a - b);
  const [shortest = 0, longest = 0] = [intervals[0], intervals.at(-1)];
  const usual = intervals[Math.floor(intervals.length / 2)] ?? 0;
  return longest - shortest > Math.max(1, usual * TOLERANCE);
}

function rateOf(stream: Stream, isVariableRate: boolean, times: readonly number[]): MediaFacts['frameRate'] {
  const { avgFrameRate, rFrameRate, timeBase } = stream;
  const intervals = intervalsOf(times);
  const usual = intervals.reduce((sum, each) => sum + each, 0) / intervals.length;
  const measured = timeBase.den / (timeBase.num * usual);
  const isClose = ({ num, den }: { num: number; den: number }) => Math.abs(num / den / measured - 1) < 0.005;
  // The base rate is exact; the average contains the rounding of times.
  const rate = !isVariableRate && isClose(rFrameRate) ? rFrameRate : avgFrameRate;
  return rate.num > 0 && rate.den > 0 ? { numerator: rate.num, denominator: rate.den } : null;
}

function canBrowsersPlay({ av, video, demuxer }: AvFile, { videoCodec, audioCodec }: MediaFacts): boolean {
  if (video === undefined || videoCodec === null) return true;
  const isMatroska = demuxer.formatName.includes('matroska');
  const container = demuxer.formatName.includes('mp4') || (isMatroska && videoCodec !== 'h264');
  const { format } = video.codecpar;
  return (
    container &&
    BROWSER_VIDEO.includes(videoCodec) &&
    [av.AV_PIX_FMT_YUV420P, av.AV_PIX_FMT_YUVJ420P].some((known) => known === format) &&
    (audioCodec === null || BROWSER_AUDIO.includes(audioCodec)) &&
    // The library gives thousands of bits per second.
    demuxer.bitRate * 1000 <= MAX_BROWSER_BITS
  );
}
