import { describe } from 'vitest';
import { findProgram } from '../../../../../scripts/find-program.ts';
import { lacking } from '../../../../../scripts/testing.ts';
import type { Decoder } from '../read-order.ts';

/** The path of the FFmpeg of this machine, if it has one. */
export const FFMPEG = findProgram(['ffmpeg']);
export const lacksFfmpeg = FFMPEG === undefined && lacking('FFmpeg', 'install ffmpeg');

/** Describes tests for each way to decode video and sound. */
export function withEachDecoder(tests: (decoder: Decoder) => void): void {
  describe('with node-av', () => tests({ name: 'node-av' }));
  describe.skipIf(lacksFfmpeg)('with the FFmpeg of the host', () => tests({ name: 'ffmpeg', path: FFMPEG ?? '' }));
}
