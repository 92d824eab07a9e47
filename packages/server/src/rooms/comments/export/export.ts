import type { ExportFormat, Media } from '@review/contract';
import { ProblemError } from '../../../request/problem.ts';
import type { SavedFile } from '../../handler.ts';
import { csvOf } from './csv.ts';
import { edlOf } from './edl.ts';
import type { Comments, ExportedFile, ExportedVideo } from './exported.ts';
import type { PictureSource, pdfOf } from './pdf.ts';
import { fcpxmlOf, xmemlOf } from './xml.ts';

const FORMATS = {
  csv: { extension: 'csv', mimeType: 'text/csv; charset=utf-8' },
  edl: { extension: 'edl', mimeType: 'text/plain; charset=utf-8' },
  xmeml: { extension: 'xml', mimeType: 'application/xml' },
  fcpxml: { extension: 'fcpxml', mimeType: 'application/xml' },
  pdf: { extension: 'pdf', mimeType: 'application/pdf' },
} as const satisfies Record<ExportFormat, object>;

const MARKERS = { edl: edlOf, xmeml: xmemlOf, fcpxml: fcpxmlOf };

/** Describes a file by its media, which is null if it has none. */
export const exportedFile = (name: string, media: Media | null): ExportedFile => ({
  name,
  anchors: media?.kind === 'DOCUMENT' ? 'pages' : 'milliseconds',
  rate: media?.kind === 'VIDEO' ? media.frameRate : null,
  durationMs: media?.durationMs ?? 0,
  width: media?.width ?? null,
  height: media?.height ?? null,
});

const hasFrames = (file: ExportedFile): file is ExportedVideo => file.rate !== null;

/** Returns the comments on a file as a file of that format. Throws if the format needs frames and the file has none. */
export function exportComments(
  format: ExportFormat,
  file: ExportedFile,
  comments: Comments,
  pictures: PictureSource,
  at = new Date(),
): SavedFile {
  const { extension, mimeType } = FORMATS[format];
  const name = `${file.name.replace(/(?<=.)\.[^.]{1,10}$/u, '')}.${extension}`;
  if (format === 'csv') return { name, mimeType, chunks: csvOf(file, comments) };
  if (format === 'pdf') return { name, mimeType, chunks: pdfChunks(file, comments, pictures, at) };
  if (!hasFrames(file)) throw new ProblemError('FRAME_RATE_UNKNOWN');
  return { name, mimeType, chunks: MARKERS[format](file, comments) };
}

/** The library for PDF is loaded by the first export that needs it. */
async function* pdfChunks(...order: Parameters<typeof pdfOf>): AsyncGenerator<Buffer> {
  const { pdfOf } = await import('./pdf.ts');
  yield* pdfOf(...order);
}
