import type { MediaFacts } from '@review/contract';
import { NO_FACTS } from '@review/contract/no-facts';
import { Refused } from './refused.ts';
import {
  type Course,
  type Fraction,
  type Look,
  type ProbedFile,
  type Size,
  secondsOf,
  type VideoStream,
} from './video-source.ts';

/** Frames may differ by this part of the usual interval, or by rounding, in a video of a constant rate. */
const TOLERANCE = 0.1;
const BROWSER_VIDEO = ['h264', 'vp8', 'vp9', 'av1'];
const BROWSER_AUDIO = ['aac', 'mp3', 'opus', 'vorbis', 'flac'];
const MAX_BROWSER_BITS = 20_000_000;

/** What is known about a video or sound, and what its renditions need. */
export interface AvFacts extends Course {
  facts: MediaFacts;
  /** The heights of the proxies that browsers need. */
  proxies: number[];
}

/** Reads all packets once, without decoding them: only that gives the exact number of frames. */
export async function readFacts(file: ProbedFile, maxPixels: number): Promise<AvFacts> {
  const { video, audio, start } = file;
  const [times, keys]: [number[], number[]] = [[], []];
  let [end, frameCount] = [0, 0];
  for await (const { stream, time, duration, isKey } of file.packets()) {
    if (stream === 'video') frameCount += 1;
    const timeBase = file[stream]?.timeBase;
    if (time === null || timeBase === undefined) continue;
    end = Math.max(end, secondsOf(time + duration, timeBase) - start);
    if (stream !== 'video') continue;
    times.push(time);
    if (isKey) keys.push(secondsOf(time, timeBase) - start);
  }
  if (video === null && audio === null) throw new Refused('UNREADABLE', 'The file has neither video nor sound.');
  const facts: MediaFacts = { ...NO_FACTS };
  if (audio !== null) {
    facts.audioCodec = audio.codec;
    facts.audioChannels = audio.channels;
  }
  if (video !== null) {
    if (video.width * video.height > maxPixels)
      throw new Refused('LIMIT_EXCEEDED', `The video has more than ${maxPixels / 1e6} megapixels.`);
    Object.assign(facts, shownSize(video));
    facts.frameCount = frameCount;
    // Only formats of a constant rate omit times.
    facts.variableFrameRate = times.length === frameCount && isVariable(times);
    facts.frameRate = rateOf(video, facts.variableFrameRate, times.length === frameCount ? times : []);
    facts.videoCodec = video.codec;
    facts.hdr = video.hdr !== null;
    // Some formats omit how long the last frame is shown.
    const { numerator, denominator } = facts.frameRate ?? { numerator: 1, denominator: 0 };
    if (!facts.variableFrameRate) end = Math.max(end, (frameCount * denominator) / numerator);
  }
  const seconds = end > 0 ? end : Math.max(0, file.duration);
  facts.durationMs = Math.round(seconds * 1000);
  const isSmall = Math.min(facts.width ?? 0, facts.height ?? 0) <= 540;
  const look: Look = { rotation: video?.rotation ?? 0, hdr: video?.hdr ?? null };
  return { facts, seconds, look, keys, proxies: canBrowsersPlay(file) ? [] : isSmall ? [540] : [1080, 540] };
}

function shownSize({ width, height, rotation, pixelAspect: { num, den } }: VideoStream): Size {
  // Pixels that are not square are shown as squares.
  const wide = Math.round(width * (num > 0 && den > 0 ? num / den : 1));
  return rotation === 90 || rotation === 270 ? { width: height, height: wide } : { width: wide, height };
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

function rateOf(stream: VideoStream, isVariableRate: boolean, times: readonly number[]): MediaFacts['frameRate'] {
  const { averageRate, baseRate, timeBase } = stream;
  const intervals = intervalsOf(times);
  const usual = intervals.reduce((sum, each) => sum + each, 0) / intervals.length;
  const measured = timeBase.den / (timeBase.num * usual);
  const isClose = ({ num, den }: Fraction) => Math.abs(num / den / measured - 1) < 0.005;
  // The base rate is exact; the average contains the rounding of times.
  const rate = !isVariableRate && isClose(baseRate) ? baseRate : averageRate;
  return rate.num > 0 && rate.den > 0 ? { numerator: rate.num, denominator: rate.den } : null;
}

function canBrowsersPlay({ container, video, audio, bitRate }: ProbedFile): boolean {
  if (video === null || video.codec === null) return true;
  const isMatroska = container.includes('matroska');
  return (
    (container.includes('mp4') || (isMatroska && video.codec !== 'h264')) &&
    BROWSER_VIDEO.includes(video.codec) &&
    video.isEightBit420 &&
    (audio === null || audio.codec === null || BROWSER_AUDIO.includes(audio.codec)) &&
    bitRate <= MAX_BROWSER_BITS
  );
}
