import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { FILM, held, NO_LIMITS, reserveSubmit, storeResult, workerOf } from '../generation/test/generations.ts';
import { differencesFrom } from './ordered.ts';
import { attempt, FACTS } from './test/media.ts';

const ORDERED = { generateAudio: true, resolution: '720p', durationSeconds: 5, aspectRatio: '16:9' };

test.each([
  [5000, 1280, 720, []],
  [5400, 1280, 720, []],
  [4600, 1920, 1080, []],
  [3000, 1280, 720, ['The video is 3 seconds long instead of the ordered 5 seconds.']],
  [7250, 1280, 720, ['The video is 7.3 seconds long instead of the ordered 5 seconds.']],
  [5000, 854, 480, ['The video has 854 x 480 pixels instead of the ordered 1280 x 720.']],
  [5000, 720, 1280, []],
  [null, null, null, []],
])('%s ms and %s x %s pixels', (durationMs, width, height, warnings) => {
  expect(differencesFrom(ORDERED, { durationMs, width, height })).toEqual(warnings);
});

/** The fewest bytes that are detected as MP4. */
const MP4 = Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom');

onEachDatabase((house) => {
  test('a generated video that is shorter than ordered has one warning, also after a second report', async () => {
    const task = await held(house(), FILM);
    await reserveSubmit(house(), task);
    await storeResult(house(), task, MP4);
    await workerOf(house()).finish({
      params: task,
      body: { epoch: task.epoch, outcome: { status: 'SUCCEEDED', warnings: ['Made by the sandbox.'] } },
    });
    const { id, epoch } = await attempt(house(), task.id);
    const facts = { ...FACTS, durationMs: 3000, width: 1280, height: 720 };
    for (let count = 0; count < 2; count++)
      await workerOf(house()).recordFacts({ params: { id }, body: { epoch, facts } });
    const { data } = await house().people.owner.client.files.get({ params: { id } });
    expect(data.generation).toMatchObject({
      status: 'SUCCEEDED',
      warnings: ['Made by the sandbox.', 'The video is 3 seconds long instead of the ordered 5 seconds.'],
    });
  });
}, NO_LIMITS);
