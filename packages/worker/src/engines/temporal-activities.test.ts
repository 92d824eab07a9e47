import { expect, test } from 'vitest';
import { StepError } from '../step-error.ts';
import { failureOf } from './temporal-activities.ts';

test('a delay of 0 is left to the policy: Temporal would take it for the end of the tries', () => {
  const failure = failureOf(new StepError('RATE_LIMITED', 'at once', 0), false);
  expect(failure).toMatchObject({ nonRetryable: false, nextRetryDelay: undefined });
  expect(failureOf(new StepError('RATE_LIMITED', 'later', 250), false)).toMatchObject({ nextRetryDelay: 250 });
});

test('waiting is never the last try', () => {
  for (const type of ['NOT_READY', 'RIVAL', 'NOT_MINE'] as const) {
    expect(failureOf(new StepError(type, 'wait'), true)).toMatchObject({ type, nonRetryable: false });
  }
});
