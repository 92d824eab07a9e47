import type { FileRecord } from '@review/contract';

/** The unit of comment anchors on a file: milliseconds of a video or sound, pages of a document, or none. */
export type AnchorKind = 'time' | 'page' | null;

export function anchorKindOf({ mimeType, media }: Pick<FileRecord, 'mimeType' | 'media'>): AnchorKind {
  if (media?.kind === 'VIDEO' || media?.kind === 'AUDIO' || /^(video|audio)\//.test(mimeType ?? '')) return 'time';
  return mimeType === 'application/pdf' ? 'page' : null;
}

const two = (count: number) => String(count).padStart(2, '0');

/** The position of a comment: a time, a range of time, or a page. */
export function placeText(anchor: number, duration: number | null, kind: AnchorKind): string {
  const start = anchorText(anchor, kind);
  return duration === null || duration === 0 || kind !== 'time'
    ? start
    : `${start} – ${anchorText(anchor + duration, kind)}`;
}

export function anchorText(anchor: number, kind: AnchorKind): string {
  if (kind === 'page') return `page ${anchor}`;
  const seconds = Math.floor(anchor / 1000);
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}.${Math.floor((anchor % 1000) / 100)}`;
}
