/** A character of the set, with or without U+FE0F after it. */
const any = (characters: string) => `[${characters}]\uFE0F?`;
const either = (...alternatives: string[]) => `(?:${alternatives.join('|')})`;
const joined = (...parts: string[]) => parts.join('\u200D');
const toned = (base: string) => `${base}(?:${any('🏻-🏿')})?`;

const SINGLE =
  '©®‼⁉™ℹ↔-↙↩↪⌚⌛⌨⏏⏩-⏳⏸-⏺Ⓜ▪▫▶◀◻-◾☀-☄☎☑☔☕☘☝☠☢☣☦☪☮☯☸-☺♀♂♈-♓♟♠♣♥♦♨♻♾♿⚒-⚗⚙⚛⚜⚠⚡⚧⚪⚫⚰⚱⚽⚾⛄⛅⛈⛎⛏⛑⛓⛔⛩⛪⛰-⛵⛷-⛺⛽✂✅✈-✍✏✒✔✖✝✡✨✳✴❄❇❌❎❓-❕❗❣❤➕-➗➡➰➿⤴⤵⬅-⬇⬛⬜⭐⭕〰〽㊗㊙🀄🃏🅰🅱🅾🅿🆎🆑-🆚🈁🈂🈚🈯🈲-🈺🉐🉑🌀-🌡🌤-🎓🎖🎗🎙-🎛🎞-🏰🏳-🏵🏷-📽📿-🔽🕉-🕎🕐-🕧🕯🕰🕳-🕺🖇🖊-🖍🖐🖕🖖🖤🖥🖨🖱🖲🖼🗂-🗄🗑-🗓🗜-🗞🗡🗣🗨🗯🗳🗺-🙏🚀-🛅🛋-🛒🛕-🛘🛜-🛥🛩🛫🛬🛰🛳-🛼🟠-🟫🟰🤌-🤺🤼-🥅🥇-🧿🩰-🩼🪀-🪊🪎-🫆🫈🫍-🫜🫟-🫪🫯-🫸';
const TONED =
  '☝⛹✊-✍🎅🏂-🏄🏇🏊-🏌👂👃👆-👐👦-👩👫-👸👼💁-💃💅-💇💏💑💪🕴🕵🕺🖐🖕🖖🙅-🙇🙋-🙏🚣🚴-🚶🛀🛌🤌🤏🤘-🤟🤦🤰-🤹🤼-🤾🥷🦵🦶🦸🦹🦻🧍-🧏🧑-🧝🫃-🫅🫰-🫸';
const GENDERED = '⛹🏃🏄🏊-🏌👮-👱👳👷💁💂💆💇🕵🙅-🙇🙋🙍🙎🚣🚴-🚶🤦🤵🤷-🤹🤼-🤾🦸🦹🧍-🧏🧔🧖-🧝';
const JOBS = '⚕⚖✈🌾🍳🍼🎓🎤🎨🏫🏭💻💼🔧🔬🚀🚒🦯-🦳🦼🦽';
/** First and second letters of regions. */
const FLAGS: readonly (readonly [string, string])[] = [
  ['🇦', '🇨-🇬🇮🇱🇲🇴🇶-🇺🇼🇽🇿'],
  ['🇧', '🇦🇧🇩-🇯🇱-🇴🇶-🇹🇻🇼🇾🇿'],
  ['🇨', '🇦🇨🇩🇫-🇮🇰-🇷🇺-🇿'],
  ['🇩', '🇪🇬🇯🇰🇲🇴🇿'],
  ['🇪', '🇦🇨🇪🇬🇭🇷-🇺'],
  ['🇫', '🇮-🇰🇲🇴🇷'],
  ['🇬', '🇦🇧🇩-🇮🇱-🇳🇵-🇺🇼🇾'],
  ['🇭', '🇰🇲🇳🇷🇹🇺'],
  ['🇮', '🇨-🇪🇱-🇴🇶-🇹'],
  ['🇯', '🇪🇲🇴🇵'],
  ['🇰', '🇪🇬-🇮🇲🇳🇵🇷🇼🇾🇿'],
  ['🇱', '🇦-🇨🇮🇰🇷-🇻🇾'],
  ['🇲', '🇦🇨-🇭🇰-🇿'],
  ['🇳', '🇦🇨🇪-🇬🇮🇱🇴🇵🇷🇺🇿'],
  ['🇴', '🇲'],
  ['🇵', '🇦🇪-🇭🇰-🇳🇷-🇹🇼🇾'],
  ['🇶', '🇦'],
  ['🇷', '🇪🇴🇸🇺🇼'],
  ['🇸', '🇦-🇪🇬-🇴🇷-🇹🇻🇽-🇿'],
  ['🇹', '🇦🇨🇩🇫-🇭🇯-🇴🇷🇹🇻🇼🇿'],
  ['🇺', '🇦🇬🇲🇳🇸🇾🇿'],
  ['🇻', '🇦🇨🇪🇬🇮🇳🇺'],
  ['🇼', '🇫🇸'],
  ['🇽', '🇰'],
  ['🇾', '🇪🇹'],
  ['🇿', '🇦🇲🇼'],
];
/** England, Scotland and Wales, as tags. */
const NATIONS = ['gbeng', 'gbsct', 'gbwls'].map((name) =>
  String.fromCodePoint(...Array.from(name, (letter) => 0xe0000 + letter.charCodeAt(0)), 0xe007f),
);
const KISS_OR_HEART = either(joined(any('❤'), any('💋')), any('❤'));
const CHILDREN = either(any('👦👧'), joined(any('👦👧'), any('👦')), joined(any('👧'), any('👧')));
const TONES = ['🏻', '🏼', '🏽', '🏾', '🏿'];

/** Pairs of people with different skin tones; pairs of one tone have a character of their own. */
const ofTwoTones = TONES.map((tone) => {
  const first = (base: string) => any(base) + any(tone);
  const pair = either(
    joined(first('👨'), any('🤝🐰🫯'), any('👨')),
    joined(first('👩'), any('🐰🫯'), any('👩')),
    joined(first('👩'), any('🤝'), any('👨👩')),
    joined(first('🧑'), either(any('🐰🫯'), KISS_OR_HEART), any('🧑')),
    joined(first('🫱'), any('🫲')),
  );
  return pair + any(TONES.filter((other) => other !== tone).join(''));
});

/**
 * The emoji of Unicode 17 that `normalizeEmoji` accepts, for regular expressions without `\p{RGI_Emoji}`. Only the OpenAPI
 * documents import it, so that the console does not load it.
 */
export const EMOJI_PATTERN = `^${either(
  `${any('0-9#*')}\u20E3`,
  toned(any(TONED)),
  any(SINGLE),
  ...FLAGS.map(([first, second]) => any(first) + any(second)),
  ...NATIONS.map((tags) => any('🏴') + tags),
  joined(toned(any('👨👩🧑')), any(JOBS)),
  joined(toned(any('👨👩🧑')), any('🦯🦼🦽'), any('➡')),
  joined(toned(any('🧑')), any('🎄🩰')),
  joined(toned(any(GENDERED)), any('♀♂')),
  joined(any('🧞🧟'), any('♀♂')),
  joined(toned(any('🏃🚶🧎')), `(?:${joined(any('♀♂'), '')})?${any('➡')}`),
  joined(either(any('👨👩'), joined(any('👨👩'), any('👩')), joined(any('👨'), any('👨'))), CHILDREN),
  joined(either(any('🧑'), joined(any('🧑'), any('🧑'))), either(any('🧒'), joined(any('🧒'), any('🧒')))),
  ...[any, (person: string) => any(person) + any('🏻-🏿')].flatMap((person) => [
    joined(person('🧑'), any('🤝'), person('🧑')),
    joined(person('👨'), KISS_OR_HEART, person('👨')),
    joined(person('👩'), KISS_OR_HEART, person('👨👩')),
  ]),
  ...ofTwoTones,
  joined(any('🏳'), any('⚧🌈')),
  joined(any('🏴'), any('☠')),
  joined(any('❤🐦'), any('🔥')),
  joined(any('❤'), any('🩹')),
  joined(any('🐈🐦'), any('⬛')),
  joined(any('🙂'), any('↔↕')),
  ...['⛓💥', '🍄🟫', '🍋🟩', '🐕🦺', '🐻❄', '👁🗨', '😮💨', '😵💫', '😶🌫'].map((two) => joined(...Array.from(two, any))),
)}$`;
