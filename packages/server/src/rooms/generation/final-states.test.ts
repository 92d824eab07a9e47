import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { holdFinalStates } from './test/final-states.ts';
import { NO_LIMITS } from './test/generations.ts';

onEachDatabase((house) => {
  test('R6: 10 random orders of reports, cancels, deadlines and duplicates change no final state', async () => {
    expect(await holdFinalStates(house(), 10)).toBeGreaterThan(0);
  });
}, NO_LIMITS);
