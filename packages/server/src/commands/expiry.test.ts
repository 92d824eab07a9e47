import { expect, test, vi } from 'vitest';
import { expiry } from './expiry.ts';

const at = (moment: string, text: string) => {
  vi.useFakeTimers({ now: new Date(moment) });
  try {
    return expiry(text);
  } finally {
    vi.useRealTimers();
  }
};

test('a number of days counts from now', () => {
  expect(at('2027-01-31T10:20:30.456Z', '1d')).toBe('2027-02-01 10:20:30.456000');
  expect(at('2027-01-31T10:20:30.456Z', '90d')).toBe('2027-05-01 10:20:30.456000');
});

test('a day lasts until its end, UTC', () => {
  expect(at('2027-01-31T10:20:30Z', '2028-02-29')).toBe('2028-02-29 23:59:59.999999');
  expect(at('2027-01-31T23:59:59Z', '2027-01-31')).toBe('2027-01-31 23:59:59.999999');
  expect(() => at('2027-02-01T00:00:00Z', '2027-01-31')).toThrow('is in the past');
});

test.each([
  '',
  '0d',
  '-1d',
  '1.5d',
  '1w',
  'd',
  '2027-02-30',
  '2027-02-29',
  '2027-13-01',
  '2027-1-1',
  '31.01.2027',
  '99999999d',
])('%j is not a valid expiry', (text) => {
  expect(() => at('2020-01-01T00:00:00Z', text)).toThrow('--expires: write a date');
});
