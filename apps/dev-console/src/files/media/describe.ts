import type { Media } from '@review/contract';

const two = (count: number) => String(count).padStart(2, '0');

/** For example `4.2 s`, `1:05` or `1:00:05`. */
export function lengthText(durationMs: number): string {
  if (durationMs < 60_000) return `${Number((durationMs / 1000).toFixed(1))} s`;
  const seconds = Math.round(durationMs / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours === 0 ? `${minutes}:${two(seconds % 60)}` : `${hours}:${two(minutes)}:${two(seconds % 60)}`;
}

const CODECS: Record<string, string> = {
  h264: 'H.264',
  avc: 'H.264',
  hevc: 'HEVC',
  prores: 'ProRes',
  dnxhd: 'DNxHR',
  mpeg2video: 'MPEG-2',
  mpeg4: 'MPEG-4',
  opus: 'Opus',
  vorbis: 'Vorbis',
};

export const codecName = (codec: string): string =>
  codec.startsWith('pcm') ? 'PCM' : (CODECS[codec] ?? codec.toUpperCase());

const CHANNELS: Record<number, string> = { 1: 'mono', 2: 'stereo', 6: '5.1', 8: '7.1' };

const pixels = ({ width, height }: Media) => width !== null && height !== null && `${width} × ${height}`;

/** 24000/1001 as `23.976`. */
export const rateOf = ({ numerator, denominator }: NonNullable<Media['frameRate']>): number => numerator / denominator;

const rateText = ({ frameRate, variableFrameRate }: Media) =>
  frameRate !== null &&
  `${Number(rateOf(frameRate).toFixed(3))} frames per second${variableFrameRate ? ', variable' : ''}`;

const soundText = ({ audioCodec, audioChannels }: Media) =>
  audioCodec !== null &&
  [codecName(audioCodec), audioChannels !== null && (CHANNELS[audioChannels] ?? `${audioChannels} channels`)]
    .filter(Boolean)
    .join(', ');

/** What is known about the content, as names and values; values that do not apply are empty. */
export function mediaFacts(media: Media): readonly (readonly [string, string | false | undefined])[] {
  const { durationMs, frameCount, videoCodec, hdr, pageCount, triangleCount, kind } = media;
  return [
    ['Length', durationMs !== null && lengthText(durationMs)],
    ['Pixels', pixels(media)],
    ['Frame rate', rateText(media)],
    ['Frames', frameCount?.toLocaleString('en')],
    ['Video', videoCodec !== null && `${codecName(videoCodec)}${hdr ? ', HDR' : ''}`],
    ['Audio', kind === 'VIDEO' && media.status === 'READY' && !media.audioCodec ? 'none' : soundText(media)],
    ['Pages', pageCount?.toLocaleString('en')],
    ['Triangles', triangleCount?.toLocaleString('en')],
  ];
}

/** The facts that tell files of a list apart. */
export const briefFacts = (media: Media): string[] =>
  [media.durationMs !== null && lengthText(media.durationMs), pixels(media)].filter((fact) => fact !== false);
