import { readFile } from 'node:fs/promises';
import { extractText, getDocumentProxy } from 'unpdf';
import { describe, expect, it } from 'vitest';
import { pdfOf } from '../documents/pdf.ts';
import { HOSTILE, PROMPT, requestOf, workshop } from './test/requests.ts';

const { make } = await workshop();

const pdfText = async (bytes: Uint8Array) => {
  const document = await getDocumentProxy(new Uint8Array(bytes));
  const { text } = await extractText(document, { mergePages: true });
  return { pages: document.numPages, text: text.replace(/\s+/g, ' ') };
};

describe('markdown', () => {
  it('is a structured document about the prompt', async () => {
    const { path, ...rest } = await make(requestOf('markdown'));
    const text = await readFile(path, 'utf8');
    expect(rest).toEqual({ mimeType: 'text/markdown', extension: 'md', size: Buffer.byteLength(text) });
    expect(text).toMatch(/^# A slow pan over a misty harbour at dawn\n/);
    expect(text).toContain(`\`\`\`text\n${PROMPT}\n\`\`\``);
    expect(text).toContain('(markdown)');
    expect(text).toMatch(/^## Harbour$/m);
    expect(text).toMatch(/^\| harbour +\| +1 \| +7 \|/m);
    expect(text).toMatch(/^- harbour brief\.pdf$/m);
  });

  it.concurrent.each(HOSTILE)('shows %s as text', async (_, prompt) => {
    const text = await readFile((await make(requestOf('markdown', prompt))).path, 'utf8');
    const shown = prompt
      .toWellFormed()
      .replace(/\r\n?/g, '\n')
      .replace(/[^\P{Cc}\n\t]/gu, '\uFFFD');
    const [, fence, asked] = /^(`{3,})text\n([\s\S]*?)\n\1$/m.exec(text) ?? [];
    expect(fence).toBeDefined();
    expect(asked).toBe(shown);
  });

  it('escapes markup in the name of a reference', async () => {
    const request = { ...requestOf('markdown'), references: [{ name: '[x](http://y) *z*\n# no' }] };
    const text = await readFile((await make(request)).path, 'utf8');
    expect(text).toContain('- \\[x]\\(http\\://y) \\*z\\* # no\n');
  });
});

describe('pdf', () => {
  it('holds the prompt as text', async () => {
    const { path, mimeType, extension, size } = await make(requestOf('pdf'));
    const bytes = await readFile(path);
    expect({ mimeType, extension, size }).toEqual({
      mimeType: 'application/pdf',
      extension: 'pdf',
      size: bytes.length,
    });
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
    const { pages, text } = await pdfText(bytes);
    expect(pages).toBeGreaterThanOrEqual(1);
    expect(text).toContain(PROMPT);
    expect(text).toContain('(pdf)');
    expect(text).toContain('harbour brief.pdf');
  });

  it('writes Greek and Cyrillic', async () => {
    const { text } = await pdfText(await readFile((await make(requestOf('pdf', 'Το λιμάνι, тихая гавань'))).path));
    expect(text).toContain('Το λιμάνι, тихая гавань');
  });

  it.concurrent.each(HOSTILE)('is made of %s', async (_, prompt) => {
    const { pages } = await pdfText(await readFile((await make(requestOf('pdf', prompt))).path));
    expect(pages).toBeGreaterThanOrEqual(1);
  });

  it.concurrent.each(['# Not a title ``` > quote', '<script>alert(1)</script>', '<#FX7K3M9Q2W5R8T1V4Y6Z0B>'])(
    'shows %s as it was written',
    async (prompt) => {
      const { text } = await pdfText(await readFile((await make(requestOf('pdf', prompt))).path));
      expect(text).toContain(prompt);
    },
  );

  it('renders all Markdown without reading or fetching anything', async () => {
    const markdown = `# One\n\n1. a\n   - b\n     - [x] done\n\n> quote *soft* **hard** ~~gone~~ \`code\`\n\n---\n
[web](https://example.com) [bad](javascript:alert(1)) ![a picture](/etc/passwd) ![far](http://127.0.0.1:1/x.png)\n
| a | b |\n|---|---|\n| only |\n\n<b>raw</b>\n\nline  \nbreak[^1]\n\n[^1]: a note\n\n${'> '.repeat(40)}deep\n`;
    const { bytes } = await pdfOf(markdown, { title: 'Everything', writtenAt: new Date() });
    const { text } = await pdfText(bytes);
    for (const part of ['One', 'quote soft hard gone code', 'web bad a picture', 'only', 'raw', 'a note', 'deep']) {
      expect(text).toContain(part);
    }
    expect(Buffer.from(bytes).toString('latin1')).toContain('https://example.com');
    expect(Buffer.from(bytes).toString('latin1')).not.toContain('javascript:');
  });
});

it.concurrent.each(['markdown', 'pdf'])('makes the same %s twice, and another one of another prompt', async (model) => {
  const [one, two, other] = await Promise.all(
    [PROMPT, PROMPT, 'Something else'].map(async (prompt) => readFile((await make(requestOf(model, prompt))).path)),
  );
  expect(one?.equals(two ?? Buffer.alloc(0))).toBe(true);
  expect(one?.equals(other ?? Buffer.alloc(0))).toBe(false);
});
