import type { VideoConfigs } from '@review/contract';
import { expect } from 'vitest';
import { readVideo } from './read-video.ts';
import { PROMPT, requestOf, type Workshop } from './requests.ts';

const FRAME = 1 / 24;

/** Makes the video and expects these pixels, the seconds and sound of its settings, and a key frame each second. */
export async function checkVideo({ make }: Workshop, model: string, configs: VideoConfigs, pixels: string) {
  const request = requestOf(model, PROMPT, configs);
  const { durationSeconds: seconds = 0, generateAudio = false } = request.settings ?? {};
  const { path, mimeType, extension } = await make(request);
  expect({ mimeType, extension }).toEqual({ mimeType: 'video/mp4', extension: 'mp4' });
  const found = await readVideo(path);
  expect(found).toMatchObject({ codec: 'avc', pixels, frames: seconds * 24, streams: true });
  expect(Math.abs(found.seconds - seconds)).toBeLessThanOrEqual(FRAME);
  expect(found.keys).toEqual(Array.from({ length: seconds }, (_, second) => second * 24));
  expect(found.audio?.codec ?? null).toBe(generateAudio ? 'aac' : null);
  if (found.audio) expect(Math.abs(found.audio.seconds - seconds)).toBeLessThanOrEqual(FRAME);
}
