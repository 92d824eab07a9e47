import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChosenTime, instantOf, timestampOf } from './time.ts';

describe('times', () => {
  it('convert to timestamps and back', () => {
    expect(timestampOf(Date.UTC(2026, 10, 15, 8, 30))).toBe('2026-11-15 08:30:00.000000');
    const instants = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
    fc.assert(fc.property(instants, (date) => instantOf(timestampOf(date.getTime())) === date.getTime()));
  });

  it.each([
    ['2026-11-15 08:30:00.000001', true],
    ['2028-02-29 23:59:59.999999', true],
    ['2026-02-29 08:30:00.000000', false],
    ['2026-11-15 24:00:00.000000', false],
    ['2026-13-15 08:30:00.000000', false],
  ])('%s exists in the calendar: %s', (value, isOne) => {
    expect(ChosenTime.safeParse(value).success).toBe(isOne);
  });
});
