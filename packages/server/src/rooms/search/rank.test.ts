import { expect, test } from 'vitest';
import { fold } from '../../db/fold.ts';
import { excerptOf, matchOf } from './rank.ts';

test.each([
  ['Harbour', [], 6],
  ['harbour at night', [], 5],
  ['The harbour', [], 4],
  ['old_harbour.mp4', [], 4],
  ['Newharbour', [], 3],
  ['A pier', ['Near the Harbour.'], 2],
  ['A pier', ['Coldharbour Lane'], 1],
  ['A pier', ['The coldharbour, and the harbour'], 2],
  ['A pier', [null, 'Water'], null],
] as const)('%s with %j has the score %s', (title, texts, score) => {
  expect(matchOf('harbour', title, texts)?.score ?? null).toBe(score);
});

test('the excerpt is the part of the text around the keyword', () => {
  const text = `${'word '.repeat(100)}needle${' word'.repeat(100)}`;
  const excerpt = excerptOf(text, 'needle');
  expect(excerpt).toMatch(/^….*needle.*…$/);
  expect(excerpt.length).toBeLessThan(170);
  expect(excerptOf('Short\n needle', 'needle')).toBe('Short needle');
});

test.each(['Straße '.repeat(60), '\u{1F3AC} '.repeat(80), 'ﬃ'.repeat(80), 'İ'.repeat(90)])(
  'the excerpt has the keyword after characters that change their length: %s',
  (before) => {
    const keyword = fold('Größe');
    expect(fold(excerptOf(`${before}GRÖSSE und mehr`, keyword))).toContain(keyword);
  },
);
