import { expect, test } from 'vitest';
import { describeError } from './describe-error.ts';

test('an error is logged with its causes and their codes, without other properties', () => {
  const refused = Object.assign(new Error('14 UNAVAILABLE: connect ECONNREFUSED'), {
    code: 14,
    metadata: { secret: 1 },
  });
  const error = new Error('Failed to start Workflow', { cause: refused });
  expect(describeError(error)).toEqual({
    type: 'Error',
    message: 'Failed to start Workflow',
    stack: expect.any(String),
    cause: { type: 'Error', message: refused.message, code: 14, stack: expect.any(String) },
  });
});

test('an AggregateError has all its errors, and circular causes end', () => {
  const several = new AggregateError([new Error('IPv6'), new Error('IPv4')], 'no address answers');
  expect(describeError(several)).toMatchObject({ cause: [{ message: 'IPv6' }, { message: 'IPv4' }] });
  const circle = new Error('circle');
  circle.cause = circle;
  expect(JSON.stringify(describeError(circle))).toContain('circle');
});
