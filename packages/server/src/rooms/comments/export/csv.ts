import { frameAt } from '@review/contract';
import { type Comments, type ExportedFile, positionAt } from './exported.ts';

const COLUMNS = ['Number', 'Page', 'Start', 'End', 'Frame', 'Author', 'Comment', 'Status', 'Created (UTC)'] as const;
type Row = Partial<Record<(typeof COLUMNS)[number], string | number>>;

/** Spreadsheets run a cell that starts with one of these as a formula. */
const FORMULA = /^\s*[=+\-@\t\r]/;

const cell = (value: string | number = ''): string => {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const line = (row: Row) => `${COLUMNS.map((column) => cell(row[column])).join(',')}\r\n`;

/** Comments as CSV (RFC 4180). A reply has the number of its comment and its own: `3.1`. */
export async function* csvOf(file: ExportedFile, comments: Comments): AsyncGenerator<string> {
  // Without the byte order mark, Excel reads UTF-8 as another encoding.
  yield `\uFEFF${COLUMNS.map((column) => cell(column)).join(',')}\r\n`;
  let number = 0;
  for await (const comment of comments) {
    number += 1;
    yield line({
      Number: number,
      ...place(file, comment),
      Author: comment.author,
      Comment: comment.text,
      Status: comment.resolvedAt === null ? 'open' : 'resolved',
      'Created (UTC)': secondsOf(comment.createdAt),
    });
    for (const [index, reply] of comment.replies.entries()) {
      const created = secondsOf(reply.createdAt);
      yield line({
        Number: `${number}.${index + 1}`,
        Author: reply.author,
        Comment: reply.text,
        'Created (UTC)': created,
      });
    }
  }
}

function place(file: ExportedFile, { anchor, duration }: { anchor: number | null; duration: number | null }): Row {
  if (anchor === null) return {};
  if (file.anchors === 'pages') return { Page: anchor };
  const { rate } = file;
  const end = duration === null ? {} : { End: positionAt(anchor + duration, rate) };
  return { Start: positionAt(anchor, rate), ...end, ...(rate !== null && { Frame: frameAt(anchor, rate) }) };
}

const secondsOf = (at: string) => at.slice(0, 19);
