import { expect, test } from 'vitest';
import { onEachDatabase } from '../../test/house.ts';
import { holdFinalStates } from './test/final-states.ts';
import { NO_LIMITS } from './test/generations.ts';

onEachDatabase((house) => {
  test('R6: 5,000 random orders change no final state, 10,000 over both databases', {
    timeout: 3_600_000,
  }, async () => {
    expect(await holdFinalStates(house(), 5000)).toBeGreaterThan(1000);
  });
}, NO_LIMITS);
