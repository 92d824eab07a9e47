import type { Comments, ExportedComment } from '../export/exported.ts';
import type { PictureSource } from '../export/pdf.ts';

/** A comment as it is exported. The id is the text. */
export const comment = (anchor: number | null, text: string, own: Partial<ExportedComment> = {}): ExportedComment => ({
  id: text,
  author: 'Ada Byron',
  text,
  anchor,
  duration: null,
  drawn: false,
  resolvedAt: null,
  createdAt: '2026-11-16 09:30:00.123456',
  replies: [],
  ...own,
});

export async function* streamed(comments: ExportedComment[]): Comments {
  yield* comments;
}

export const NO_PICTURES: PictureSource = {
  frameOf: async () => null,
  shapesOf: async () => [],
  isPageLeftOut: () => false,
};
