import { EXPORT_FORMATS, type ExactRate, type ExportFormat } from '@review/contract';
import { extractText } from 'unpdf';
import { expect, test } from 'vitest';
import type { SavedFile } from '../../handler.ts';
import { comment, NO_PICTURES, streamed } from '../test/exported.ts';
import { exportComments } from './export.ts';
import type { ExportedComment, ExportedFile } from './exported.ts';

const RATES: Record<string, ExactRate> = {
  '23.976': { numerator: 24_000, denominator: 1001 },
  '29.97-df': { numerator: 30_000, denominator: 1001 },
  '25': { numerator: 25, denominator: 1 },
  '60': { numerator: 60, denominator: 1 },
};

const COMMENTS: ExportedComment[] = [
  comment(0, 'First frame'),
  comment(60_000, 'At a minute, for two seconds', { duration: 2000, resolvedAt: '2026-11-16 10:00:00.000000' }),
  comment(60_061, 'The first number after the dropped ones'),
  comment(600_600, '=HYPERLINK("http://evil.example","x") & <b>"quoted"</b> | bar\r\nsecond line'),
  comment(3_600_000, '字幕を直す, 한국어, עברית, 🎬', {
    author: '山田 "Taro" & Co',
    replies: [{ author: 'Bo', text: '-1 from me\nreally', createdAt: '2026-11-16 09:31:00.000000' }],
  }),
  comment(null, 'Without a time'),
];

const exported = (format: ExportFormat, file: ExportedFile, comments: ExportedComment[]) =>
  exportComments(format, file, streamed(comments), NO_PICTURES, new Date('2026-11-17T08:00:00Z'));

async function textOf({ chunks, mimeType }: SavedFile): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  const bytes = Buffer.concat(parts);
  if (mimeType !== 'application/pdf') return bytes.toString();
  const { text } = await extractText(new Uint8Array(bytes));
  return text.join('\n--- next page ---\n');
}

const videoAt = (rate: ExactRate | null): ExportedFile => ({
  name: 'Cut <3> & "final".v2.mp4',
  anchors: 'milliseconds',
  rate,
  durationMs: 3_700_000,
  width: 1920,
  height: 1080,
});

test.each(Object.entries(RATES).flatMap(([name, rate]) => EXPORT_FORMATS.map((format) => ({ name, rate, format }))))(
  '$format at $name',
  async ({ name, rate, format }) => {
    const file = `golden/${name}.${format}${format === 'pdf' ? '.txt' : ''}`;
    await expect(await textOf(exported(format, videoAt(rate), COMMENTS))).toMatchFileSnapshot(file);
  },
);

test('the file is named after the exported one', () => {
  const nameOf = (name: string, format: ExportFormat) =>
    exported(format, { ...videoAt(RATES['25'] ?? null), name }, []).name;
  expect(EXPORT_FORMATS.map((format) => nameOf('a.b.mp4', format))).toEqual([
    'a.b.csv',
    'a.b.edl',
    'a.b.xml',
    'a.b.fcpxml',
    'a.b.pdf',
  ]);
  expect(nameOf('.hidden', 'csv')).toBe('.hidden.csv');
  expect(nameOf('no extension', 'csv')).toBe('no extension.csv');
});

test('without a frame rate, a table has times, and pages for a document', async () => {
  const lines = async (file: ExportedFile, comments: ExportedComment[]) =>
    (await textOf(exported('csv', file, comments))).split('\r\n').slice(1, -1);
  expect(await lines(videoAt(null), [comment(3_661_005, 'Here')])).toEqual([
    '1,,01:01:01.005,,,Ada Byron,Here,open,2026-11-16 09:30:00',
  ]);
  expect(await lines({ ...videoAt(null), anchors: 'pages' }, [comment(3, 'Here')])).toEqual([
    '1,3,,,,Ada Byron,Here,open,2026-11-16 09:30:00',
  ]);
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1'])('%j is no formula', async (text) => {
  const csv = await textOf(exported('csv', videoAt(null), [comment(null, text, { author: text })]));
  expect(csv.split('\r\n')[1]).toBe(`1,,,,,'${text},'${text},open,2026-11-16 09:30:00`);
});

test('XML has no character that it cannot contain', async () => {
  const text = 'a\0b\u000bc\uffffd\ud800e]]>';
  const xml = await textOf(exported('fcpxml', videoAt({ numerator: 25, denominator: 1 }), [comment(0, text)]));
  expect(xml).toContain('value="a b cd\ufffde]]&gt;"');
});
