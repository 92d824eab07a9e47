import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extractText, getDocumentProxy } from 'unpdf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFonts } from './fonts.ts';
import { type Pdf, pdfOf } from './pdf.ts';
import { collectionOf, fontWithOnly } from './test/other-font.ts';

const ABOUT = { title: 'T', writtenAt: new Date() };
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'review-fonts-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function textIn({ bytes }: Pdf): Promise<string> {
  const document = await getDocumentProxy(new Uint8Array(bytes));
  return (await extractText(document, { mergePages: true })).text.replace(/\s+/g, ' ');
}

test('a letter that no font has is drawn as a box and reported', async () => {
  const pdf = await pdfOf('# 漢字\n\nA 漢 and an é, `字`\n\n```\n漢\n```', ABOUT);
  expect(pdf.missing).toEqual(['漢', '字']);
  expect(await textIn(pdf)).toContain('□□ A □ and an é, □ □');
});

test('a font of the host is used only for letters that the shipped fonts lack', async () => {
  const path = join(folder, 'one.ttf');
  await writeFile(path, fontWithOnly('漢'));
  const pdf = await pdfOf('# 漢字\n\nA **漢** and an é\n\n```\n漢 = 1\n```', ABOUT, readFonts([path]));
  expect(pdf.missing).toEqual(['字']);
  expect(await textIn(pdf)).toMatch(/漢\s?□ A 漢 and an é 漢 = 1/);
});

test('a folder of fonts is read in the order of names, including collections', async () => {
  await writeFile(join(folder, 'b.ttc'), collectionOf(fontWithOnly('字', 'DejaVuSans-Bold')));
  await writeFile(join(folder, 'a.otf'), fontWithOnly('漢'));
  await writeFile(join(folder, 'LICENSE'), 'free');
  const fonts = readFonts([folder]);
  expect(fonts.map(({ path }) => path)).toEqual(expect.arrayContaining([join(folder, 'a.otf'), join(folder, 'b.ttc')]));
  const pdf = await pdfOf('漢字', ABOUT, fonts);
  expect(pdf.missing).toEqual([]);
  expect((await textIn(pdf)).replaceAll(' ', '')).toContain('漢字');
});
