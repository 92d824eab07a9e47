import { expect, test } from 'vitest';
import { sniffType } from './sniff.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);
const SVG =
  '<?xml version="1.0"?>\n<!-- drawn -->\n<!DOCTYPE svg PUBLIC "-//W3C" "x" [<!ENTITY a "b">]>\n<svg xmlns="x"/>';
const BMP = Buffer.from('424d1e000000000000001a0000000c00000001000100010018000000ff00', 'hex');

test.each([
  ['an image with another declared type', PNG, 'text/html', 'image/png'],
  ['a PDF', '%PDF-1.7\n', null, 'application/pdf'],
  ['a bitmap', BMP, null, 'image/bmp'],
  ['markdown', '# Hello', 'text/markdown; charset=utf-8', 'text/markdown'],
  ['markdown that begins like a bitmap', 'BMW film, first cut', 'text/markdown', 'text/markdown'],
  ['text that begins like a program', 'MZ is a label', null, 'text/plain'],
  ['JSON', '{"a":1}', 'application/json', 'application/json'],
  ['text declared as nothing', 'hello', null, 'text/plain'],
  ['text declared as a picture', 'hello', 'image/png', 'text/plain'],
  ['text declared as SVG', 'hello', 'image/svg+xml', 'text/plain'],
  ['text declared as HTML', 'hello', 'text/html', 'text/plain'],
  ['text declared as script', 'alert(1)', 'text/javascript', 'text/plain'],
  ['text declared as old script', 'alert(1)', 'Text/X-JavaScript', 'text/plain'],
  ['text declared as something odd', 'hello', 'text/<script>', 'text/plain'],
  ['HTML declared as a picture', '<!DOCTYPE html><html><body>', 'image/png', 'text/plain'],
  ['HTML declared as markdown', '<html><script>alert(1)</script>', 'text/markdown', 'text/plain'],
  ['XHTML', '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', null, 'text/plain'],
  ['XML', '<?xml version="1.0"?><timeline/>', null, 'application/xml'],
  ['SVG', SVG, null, 'image/svg+xml'],
  [
    'SVG without a declaration, declared as text',
    '<svg><script>alert(1)</script></svg>',
    'text/plain',
    'image/svg+xml',
  ],
  ['text about SVG', 'see <svg>', null, 'text/plain'],
  ['text with NUL', 'a\0b', 'text/plain', 'application/octet-stream'],
  ['bytes that are no UTF-8', Buffer.from([0xc3, 0x28, 0x41]), 'text/plain', 'application/octet-stream'],
  ['text cut inside a character', Buffer.from('é').subarray(0, 1), 'text/plain', 'text/plain'],
])('%s', async (_what, bytes, declared, expected) => {
  expect(await sniffType(Buffer.from(bytes), declared)).toBe(expected);
});

test('hostile content is sniffed in linear time', async () => {
  const began = performance.now();
  for (const unit of ['<!DOCTYPE ', ' ', '<!--', '<?', '<!DOCTYPE a [', '<!-- -->', '\n<!DOCTYPE a>']) {
    await sniffType(Buffer.from(unit.repeat(65_536 / unit.length)), null);
    await sniffType(Buffer.from(unit + ' '.repeat(65_000)), null);
  }
  expect(performance.now() - began).toBeLessThan(2000);
});
