import { expect, test } from 'vitest';
import { withoutMarks } from './comment-text.ts';

test.each([
  ['The **pan** is *too* _fast_', 'The pan is too fast'],
  ['**Hold _this_ longer**', 'Hold this longer'],
  ['Use `take **4**` here', 'Use take **4** here'],
  ['See [the *brief*](https://example.com/brief)', 'See the brief (https://example.com/brief)'],
  ['[https://example.com](https://example.com)', 'https://example.com'],
  ['See https://example.com/a_b_c.', 'See https://example.com/a_b_c.'],
  ['- one\n- two\n1. three', '- one\n- two\n1. three'],
  ['2 * 3 * 4, snake_case_name, 5 ** 2', '2 * 3 * 4, snake_case_name, 5 ** 2'],
  ['[not a link](javascript:alert(1))', '[not a link](javascript:alert(1))'],
  ['', ''],
])('%j without marks', (text, plain) => {
  expect(withoutMarks(text)).toBe(plain);
});
