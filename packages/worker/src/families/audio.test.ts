import { readdir, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readVideo } from '../sandbox/test/read-video.ts';
import { requestOf, workshop } from '../sandbox/test/requests.ts';
import { removeAudio } from './audio.ts';

const { folder, make, newPath } = await workshop();
const SMALL = { resolution: '480p', aspectRatio: '1:1', durationSeconds: 4 };

test('the audio track is removed, and the video packets are unchanged', async () => {
  const { path } = await make(requestOf('seedance-2.0-mini', 'A lamp', { ...SMALL, generateAudio: true }));
  const before = await readVideo(path);
  expect(before.audio?.codec).toBe('aac');
  await removeAudio(path, new AbortController().signal);
  const after = await readVideo(path);
  expect(after.audio).toBeNull();
  expect(after.digest.split(' ')[0]).toBe(before.digest.split(' ')[0]);
  expect(after).toMatchObject({ codec: 'avc', pixels: '480x480', frames: before.frames, streams: true });
  expect(await readdir(folder)).not.toContainEqual(expect.stringContaining('silent'));
});

test('a video without sound and a file of another type are unchanged', async () => {
  const { path } = await make(requestOf('seedance-2.0-mini', 'A lamp', { ...SMALL, generateAudio: false }));
  const other = newPath();
  await writeFile(other, 'no video');
  for (const each of [path, other]) {
    const before = await readFile(each);
    await removeAudio(each, new AbortController().signal);
    expect((await readFile(each)).equals(before)).toBe(true);
  }
});

test('a damaged video is the fault of the provider, and leaves no other file', async () => {
  const { path } = await make(requestOf('seedance-2.0-mini', 'A lamp', { ...SMALL, generateAudio: true }));
  const bytes = await readFile(path);
  bytes.fill(255, bytes.indexOf('trak') + 4, bytes.indexOf('trak') + 20);
  await writeFile(path, bytes);
  await expect(removeAudio(path, new AbortController().signal)).rejects.toMatchObject({
    type: 'PROVIDER_FAILED',
    message: expect.stringContaining('the video track cannot be copied'),
  });
  expect(await readdir(folder)).not.toContainEqual(expect.stringContaining('silent'));
});

test('an abort is not blamed on the video', async () => {
  const { path } = await make(requestOf('seedance-2.0-mini', 'A lamp', { ...SMALL, generateAudio: true }));
  const signal = AbortSignal.abort(new Error('stopping'));
  await expect(removeAudio(path, signal)).rejects.toThrow('stopping');
});
