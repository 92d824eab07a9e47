import { expect, test } from 'vitest';
import { StepError } from '../step-error.ts';
import { toApplicationFailure } from './temporal-activities.ts';

test('a delay of 0 is omitted, because Temporal would stop retrying', () => {
  const failure = toApplicationFailure(new StepError('RATE_LIMITED', 'at once', 0), false);
  expect(failure).toMatchObject({ nonRetryable: false, nextRetryDelay: undefined });
  expect(toApplicationFailure(new StepError('RATE_LIMITED', 'later', 250), false)).toMatchObject({
    nextRetryDelay: 250,
  });
});

test('an error in WAITING is retryable even at the last attempt', () => {
  for (const type of ['NOT_READY', 'RIVAL', 'NOT_MINE'] as const) {
    expect(toApplicationFailure(new StepError(type, 'wait'), true)).toMatchObject({ type, nonRetryable: false });
  }
});
