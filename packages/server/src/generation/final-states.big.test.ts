import { expect, test } from 'vitest';
import { onEachDatabase } from '../test/house.ts';
import { holdFinalStates } from './test/final-states.ts';
import { NO_LIMITS } from './test/generations.ts';

onEachDatabase((house) => {
  test('R6: 10,000 random orders change no final state', { timeout: 3_600_000 }, async () => {
    expect(await holdFinalStates(house(), 10_000)).toBeGreaterThan(2000);
  });
}, NO_LIMITS);
