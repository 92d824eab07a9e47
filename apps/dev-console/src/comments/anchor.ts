import type { FileRecord } from '@review/contract';

/** The unit of comment anchors on a file: milliseconds of a video, pages of a document, or none. */
export type AnchorKind = 'time' | 'page' | null;

export function anchorKindOf({ mimeType }: Pick<FileRecord, 'mimeType'>): AnchorKind {
  if (mimeType?.startsWith('video/')) return 'time';
  return mimeType === 'application/pdf' ? 'page' : null;
}

const two = (count: number) => String(count).padStart(2, '0');

export function anchorText(anchor: number, kind: AnchorKind): string {
  if (kind === 'page') return `page ${anchor}`;
  const seconds = Math.floor(anchor / 1000);
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}.${Math.floor((anchor % 1000) / 100)}`;
}
