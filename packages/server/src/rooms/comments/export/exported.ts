import { type ExactRate, frameAt, timecode } from '@review/contract';

/** A comment as it is exported, with its replies. */
export interface ExportedComment {
  id: string;
  author: string;
  /** Empty for a drawing or attachments alone. */
  text: string;
  /** Milliseconds of a video or a sound, or the page of a document. */
  anchor: number | null;
  duration: number | null;
  /** Whether it has a drawing. */
  drawn: boolean;
  resolvedAt: string | null;
  createdAt: string;
  replies: { author: string; text: string; createdAt: string }[];
}

export interface ExportedFile {
  name: string;
  /** What an anchor counts. */
  anchors: 'milliseconds' | 'pages';
  /** Null unless it is a video whose frame rate is known. */
  rate: ExactRate | null;
  durationMs: number;
  width: number | null;
  height: number | null;
}

/** A video: its comments have frames. */
export type ExportedVideo = ExportedFile & { rate: ExactRate };

/** Comments in the order of their anchors, in batches, so that few are in memory at a time. */
export type Comments = AsyncIterable<ExportedComment>;

export interface Marker {
  /** The first frame, and the number of frames: at least one. */
  frame: number;
  frames: number;
  author: string;
  /** The comment and its replies, without line breaks. */
  text: string;
  resolved: boolean;
}

/** Returns the marker of a comment; null if it has no time, or neither text nor replies. */
export function markerOf(comment: ExportedComment, rate: ExactRate): Marker | null {
  const { anchor, duration, author, replies } = comment;
  const text = [comment.text, ...replies.map((reply) => `${reply.author}: ${reply.text}`)].filter(Boolean).join(' | ');
  if (anchor === null || (text === '' && author === '')) return null;
  const frame = frameAt(anchor, rate);
  const frames = duration === null ? 1 : Math.max(1, frameAt(anchor + duration, rate) - frame);
  return { frame, frames, author, text: oneLine(text), resolved: comment.resolvedAt !== null };
}

/** Replaces line breaks and other control characters by spaces. */
export const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();

/** The timecode, or hours, minutes, seconds and milliseconds without a frame rate. */
export const positionAt = (milliseconds: number, rate: ExactRate | null): string =>
  rate === null
    ? `${timecode(Math.floor(milliseconds / 1000), SECONDS).slice(0, 8)}.${String(milliseconds % 1000).padStart(3, '0')}`
    : timecode(frameAt(milliseconds, rate), rate);

const SECONDS: ExactRate = { numerator: 1, denominator: 1 };
