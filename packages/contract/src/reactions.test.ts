import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMOJI_PATTERN } from './emoji-pattern.ts';
import { contract, normalizeEmoji, reactionToDelete } from './index.ts';
import { refusal } from './test/refusal.ts';

/** Every accepted form, and the stored one. */
const SAME: [string, string[], string][] = [
  ['heart', ['\u2764', '\u2764\uFE0F'], '\u2764\uFE0F'],
  ['thumbs up', ['\u{1F44D}', '\u{1F44D}\uFE0F'], '\u{1F44D}'],
  ['thumbs up, a skin tone', ['\u{1F44D}\u{1F3FD}'], '\u{1F44D}\u{1F3FD}'],
  ['index pointing up, a skin tone', ['\u261D\u{1F3FB}'], '\u261D\u{1F3FB}'],
  ['flag', ['\u{1F1E9}\u{1F1EA}'], '\u{1F1E9}\u{1F1EA}'],
  ['keycap', ['1\u20E3', '1\uFE0F\u20E3'], '1\uFE0F\u20E3'],
  ['keycap #', ['#\u20E3', '#\uFE0F\u20E3'], '#\uFE0F\u20E3'],
  [
    'family',
    ['\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}'],
    '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}',
  ],
  ['rainbow flag', ['\u{1F3F3}\u200D\u{1F308}', '\u{1F3F3}\uFE0F\u200D\u{1F308}'], '\u{1F3F3}\uFE0F\u200D\u{1F308}'],
  [
    'eye in a bubble, every mix of spellings',
    [
      '\u{1F441}\u200D\u{1F5E8}',
      '\u{1F441}\uFE0F\u200D\u{1F5E8}',
      '\u{1F441}\u200D\u{1F5E8}\uFE0F',
      '\u{1F441}\uFE0F\u200D\u{1F5E8}\uFE0F',
    ],
    '\u{1F441}\uFE0F\u200D\u{1F5E8}\uFE0F',
  ],
  ['woman bouncing a ball', ['\u26F9\u{1F3FB}\u200D\u2640'], '\u26F9\u{1F3FB}\u200D\u2640\uFE0F'],
  [
    'flag of England',
    ['\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}'],
    '\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}',
  ],
  ['copyright sign', ['\u00A9', '\u00A9\uFE0F'], '\u00A9\uFE0F'],
];
const NOT_ONE: [string, string][] = [
  ['nothing', ''],
  ['two emoji', '\u{1F44D}\u{1F44D}'],
  ['two flags', '\u{1F1E9}\u{1F1EA}\u{1F1EB}\u{1F1F7}'],
  ['half a flag', '\u{1F1E9}'],
  ['a flag of no country', '\u{1F1FD}\u{1F1FD}'],
  ['a letter', 'a'],
  ['a digit', '1'],
  ['an emoji and a letter', '\u{1F44D}a'],
  ['an emoji and a space', '\u{1F44D} '],
  ['a short name', ':+1:'],
  ['a lone surrogate', '\ud83d'],
  ['a lone variation selector', '\uFE0F'],
  ['two variation selectors', '\u2764\uFE0F\uFE0F'],
  ['the text style of a heart', '\u2764\uFE0E'],
  ['a lone joiner', '\u200D'],
  ['a joined pair that is no emoji', '\u{1F44D}\u200D\u{1F44D}'],
  ['a skin tone on a heart', '\u2764\u{1F3FB}'],
  ['a megabyte', '\u{1F44D}'.repeat(250_000)],
];

describe('exactly one emoji', () => {
  it.each(SAME)('%s', (_, spellings, stored) => {
    for (const spelling of spellings) {
      expect(normalizeEmoji(spelling)).toBe(stored);
      expect(contract.reactions.create.body.parse({ type: spelling })).toEqual({ type: stored });
    }
    expect(normalizeEmoji(stored)).toBe(stored);
  });

  it.each(NOT_ONE)('not %s', (_, text) => {
    expect(normalizeEmoji(text)).toBeNull();
    expect(refusal(contract.reactions.create.body, { type: text })).toEqual(['/type NOT_ONE_EMOJI']);
  });
});

describe('the pattern of one emoji', () => {
  const pattern = new RegExp(EMOJI_PATTERN, 'u');
  const recommended = /^\p{RGI_Emoji}$/v;
  const isOneEmoji = (text: string) => pattern.test(text);
  const isRecommended = (text: string) => recommended.test(text);

  // Another Unicode version of Node has other emoji.
  it.runIf(process.versions['unicode'] === '17.0')('accepts the emoji that Unicode recommends for interchange', () => {
    const characters = Array.from({ length: 0x1ffff }, (_, code) => String.fromCodePoint(code));
    const differing = characters.filter(
      (one) => isOneEmoji(one) !== (isRecommended(one) || isRecommended(`${one}\uFE0F`)),
    );
    expect(differing).toEqual([]);
    const letters = Array.from({ length: 26 }, (_, letter) => String.fromCodePoint(0x1f1e6 + letter));
    const flags = letters.flatMap((first) => letters.map((second) => first + second));
    expect(flags.filter(isOneEmoji)).toEqual(flags.filter(isRecommended));
    fc.assert(
      fc.property(fc.stringMatching(pattern), (text) => {
        expect(isRecommended(normalizeEmoji(text) ?? ''), text).toBe(true);
      }),
    );
  });
});

describe('removing a reaction', () => {
  const { body, query } = contract.reactions.delete;

  it('names the emoji in the body or in the query', () => {
    const both = (sent: { body?: unknown; query: unknown }) =>
      reactionToDelete({ body: body.parse(sent.body), query: query.parse(sent.query) });
    expect(both({ body: { type: '\u2764' }, query: {} })).toBe('\u2764\uFE0F');
    expect(both({ query: { type: '\u2764' } })).toBe('\u2764\uFE0F');
    expect(both({ query: {} })).toBeUndefined();
  });

  it('refuses other text in either', () => {
    expect(refusal(body, { type: 'a' })).toEqual(['/type NOT_ONE_EMOJI']);
    expect(refusal(query, { type: 'a' })).toEqual(['/type NOT_ONE_EMOJI']);
    expect(refusal(body, {})).toEqual(['/type REQUIRED']);
  });
});
