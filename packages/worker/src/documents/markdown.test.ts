import { expect, test } from 'vitest';
import { cleanMarkdown, titleOf } from './markdown.ts';

test.each([
  ['plain', '# A\n\nText', '# A\n\nText\n'],
  ['CRLF', '# A\r\n\r\nText\rMore\n\n\n', '# A\n\nText\nMore\n'],
  ['a fence', '```\n# A\n\nText\n```', '# A\n\nText\n'],
  ['a named fence', '```markdown\n# A\n```\n', '# A\n'],
  ['a named fence around others', '```md\n# A\n```js\nx\n```\nText\n```', '# A\n```js\nx\n```\nText\n'],
  ['a longer fence', '~~~~markdown\n# A\n~~~~', '# A\n'],
  ['two fences', '```\na\n```\n\nText\n\n```\nb\n```', '```\na\n```\n\nText\n\n```\nb\n```\n'],
  ['a program', '```js\nx\n```', '```js\nx\n```\n'],
  ['indented code', '\n  \n    # no heading', '    # no heading\n'],
  ['thoughts', '<think>\nHm, <b>.\n</think>\n\n# A', '# A\n'],
  ['a picture', 'See ![the *lamp*](https://example.com/x.png "t") here', 'See the lamp here\n'],
  [
    'a picture by reference',
    '![a lamp][1]\n\n[1]: https://example.com/x.png',
    'a lamp\n\n[1]: https://example.com/x.png\n',
  ],
  ['a picture in a link', '[![lamp](x.png)](https://example.com)', '[lamp](https://example.com)\n'],
  ['a picture without words', 'a ![](x.png) b', 'a  b\n'],
  ['a break in a table', '| a |\n|---|\n| x<br>y |', '| a |\n|---|\n| x y |\n'],
  ['HTML in a line', 'a <b onclick="x">c</b>', 'a \\<b onclick="x">c\\</b>\n'],
  ['HTML as a block', '<script>\nalert(1)\n</script>\n\ntext', '\\<script>\nalert(1)\n\\</script>\n\ntext\n'],
  ['a picture in HTML', '<div>\n![x](http://evil)\n</div>', '\\<div>\nx\n\\</div>\n'],
  ['HTML in a picture', '![<img src=x>](y)', '\\<img src=x\\>\n'],
  ['HTML around a picture', '<scr![](x)ipt>alert(1)</script>', '\\<script>alert(1)\\</script>\n'],
  ['HTML in code', '`<b>` and\n\n```\n<b> ![x](y)\n```', '`<b>` and\n\n```\n<b> ![x](y)\n```\n'],
  ['an address', '<https://example.com>', '<https://example.com>\n'],
  ['a control character', 'a\u0000b', 'a\uFFFDb\n'],
])('%s', (_name, answer, document) => {
  expect(cleanMarkdown(answer)).toBe(document);
  expect(cleanMarkdown(document)).toBe(document);
});

test('nested markup leaves neither pictures nor HTML', () => {
  const pieces = ['<', '>', '![', '](x)', '<br>', '<b>', '</b>', '<!--', '-->', '`', '\\', '\n', 'a', '<div>\n', '|'];
  // A fixed pseudo-random sequence of pieces.
  let seed = 7;
  const next = () => {
    seed = (seed * 48271) % 2147483647;
    return seed;
  };
  for (let round = 0; round < 150; round++) {
    const text = Array.from({ length: 12 }, () => pieces[next() % pieces.length]).join('');
    const clean = cleanMarkdown(text);
    // Idempotent: a second round changes nothing.
    expect(cleanMarkdown(clean), JSON.stringify(text)).toBe(clean);
  }
});

test('the title is the text of the first heading', () => {
  expect(titleOf('Text\n\n## The *quiet* `lamp`\n\n# Later')).toBe('The quiet lamp');
  expect(titleOf('Text')).toBeNull();
  expect(titleOf('#')).toBeNull();
});
