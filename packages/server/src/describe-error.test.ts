import { expect, test } from 'vitest';
import { describeError } from './describe-error.ts';

test('the log has the causes of an error with their codes, and nothing else that hangs on them', () => {
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

test('an error of several has all of them, and a circle of causes ends', () => {
  const several = new AggregateError([new Error('IPv6'), new Error('IPv4')], 'no address answers');
  expect(describeError(several)).toMatchObject({ cause: [{ message: 'IPv6' }, { message: 'IPv4' }] });
  const circle = new Error('circle');
  circle.cause = circle;
  expect(JSON.stringify(describeError(circle))).toContain('circle');
});
