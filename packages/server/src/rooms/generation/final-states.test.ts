import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { holdFinalStates } from './test/final-states.ts';
import { NO_LIMITS } from './test/generations.ts';

onEachDatabase((house) => {
  test('R6: 30 random orders of reports, cancels, deadlines and duplicates change no final state', async () => {
    expect(await holdFinalStates(house(), 30)).toBeGreaterThan(5);
  });
}, NO_LIMITS);
