import { expect, it } from 'vitest';
import { checkVideo } from './test/check-video.ts';
import { readVideo } from './test/read-video.ts';
import { PROMPT, requestOf, workshop } from './test/requests.ts';

const sandbox = await workshop();
const { make } = sandbox;
const SMALL = { resolution: '480p', aspectRatio: '1:1', durationSeconds: 4 };

it('makes a small video', () => checkVideo(sandbox, 'seedance-2.0-mini', SMALL, '480x480'));

it('makes the same picture and sound twice, and others of another prompt', async () => {
  const digest = async (prompt: string) =>
    (await readVideo((await make(requestOf('seedance-2.0-mini', prompt, SMALL))).path)).digest;
  const [picture, sound] = (await digest(PROMPT)).split(' ');
  expect(await digest(PROMPT)).toBe(`${picture} ${sound}`);
  const other = (await digest('Something else')).split(' ');
  expect(other[0]).not.toBe(picture);
  expect(other[1]).not.toBe(sound);
});
