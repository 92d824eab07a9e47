import { describe, expect, test } from 'vitest';
import { onEachDatabase, refusal } from '../../test/house.ts';
import { errorsOf, say } from '../comments/test/talk.ts';

/** All encodings of an emoji, and the stored one. */
const ONE_EMOJI: [string, string[], string][] = [
  ['smile', ['\u{1F600}'], '\u{1F600}'],
  ['heart', ['\u2764', '\u2764\uFE0F'], '\u2764\uFE0F'],
  ['thumbs up', ['\u{1F44D}', '\u{1F44D}\uFE0F'], '\u{1F44D}'],
  ['a skin tone', ['\u{1F44D}\u{1F3FD}'], '\u{1F44D}\u{1F3FD}'],
  ['a skin tone on what has a text style', ['\u261D\u{1F3FB}', '\u261D\uFE0F\u{1F3FB}'], '\u261D\u{1F3FB}'],
  ['a flag', ['\u{1F1E9}\u{1F1EA}'], '\u{1F1E9}\u{1F1EA}'],
  [
    'the flag of Scotland',
    ['\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}'],
    '\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}',
  ],
  ['a keycap', ['7\u20E3', '7\uFE0F\u20E3'], '7\uFE0F\u20E3'],
  ['a family', ['\u{1F468}\u200D\u{1F469}\u200D\u{1F467}'], '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}'],
  ['a rainbow flag', ['\u{1F3F3}\u200D\u{1F308}', '\u{1F3F3}\uFE0F\u200D\u{1F308}'], '\u{1F3F3}\uFE0F\u200D\u{1F308}'],
  [
    'an eye in a bubble',
    ['\u{1F441}\u200D\u{1F5E8}', '\u{1F441}\uFE0F\u200D\u{1F5E8}', '\u{1F441}\u200D\u{1F5E8}\uFE0F'],
    '\u{1F441}\uFE0F\u200D\u{1F5E8}\uFE0F',
  ],
];

const NOT_ONE: [string, string][] = [
  ['nothing', ''],
  ['a space', ' '],
  ['a letter', 'a'],
  ['a digit', '1'],
  ['a short name', ':+1:'],
  ['text and an emoji', 'ok \u{1F44D}'],
  ['an emoji and a letter', '\u{1F44D}a'],
  ['two emoji', '\u{1F44D}\u{1F44D}'],
  ['two flags', '\u{1F1E9}\u{1F1EA}\u{1F1EB}\u{1F1F7}'],
  ['half a flag', '\u{1F1E9}'],
  ['a lone joiner', '\u200D'],
  ['a lone variation selector', '\uFE0F'],
  ['the text style of a heart', '\u2764\uFE0E'],
  ['half a surrogate pair', '\ud83d'],
  ['a NUL behind it', '\u{1F44D}\0'],
  ['a long row', '\u{1F44D}'.repeat(10_000)],
];

onEachDatabase((house) => {
  const reactions = () => house().people.member.client.reactions;

  describe('one emoji in any encoding', () => {
    test.each(ONE_EMOJI)(
      '%s: any other encoding is 409, it is stored fully qualified, and any encoding removes it',
      async (_, spellings, stored) => {
        const params = { id: await say(house()) };
        for (const first of spellings) {
          await reactions().create({ params, body: { type: first } });
          for (const type of [...spellings, stored]) {
            await refusal(reactions().create({ params, body: { type } }), 'REACTION_EXISTS');
          }
          expect((await reactions().list({ params })).data).toMatchObject([{ type: stored, count: 1 }]);
          await reactions().delete({ params, body: { type: spellings.at(-1) ?? stored } });
          expect((await reactions().list({ params })).data).toEqual([]);
        }
      },
    );

    test('in the query too', async () => {
      const params = { id: await say(house()) };
      await reactions().create({ params, body: { type: '\u2764\uFE0F' } });
      await reactions().delete({ params, query: { type: '\u2764' }, body: undefined });
      expect((await reactions().list({ params })).data).toEqual([]);
    });

    test('skin tones are different emoji', async () => {
      const params = { id: await say(house()) };
      const tones = ['\u{1F44D}', '\u{1F44D}\u{1F3FB}', '\u{1F44D}\u{1F3FF}'];
      for (const type of tones) await reactions().create({ params, body: { type } });
      expect((await reactions().list({ params })).data.map(({ type }) => type)).toEqual(tones);
    });
  });

  describe('not one emoji', () => {
    test.each(NOT_ONE)('%s is 400', async (_, type) => {
      const params = { id: await say(house()) };
      const problem = await refusal(reactions().create({ params, body: { type } }), 'INVALID_REQUEST');
      expect(errorsOf(problem)).toEqual(['/type NOT_ONE_EMOJI']);
    });
  });
});
