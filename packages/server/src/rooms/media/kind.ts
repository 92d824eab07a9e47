import type { MediaKind } from '@review/contract';

/** Types whose names do not tell their kind. */
const KINDS: Record<string, MediaKind> = {
  'application/pdf': 'DOCUMENT',
  'model/gltf-binary': 'MODEL',
  'application/mxf': 'VIDEO',
  'application/ogg': 'VIDEO',
  'application/vnd.ms-asf': 'VIDEO',
};

/** Returns the kind of media of a detected type; null for what is not media. */
export function mediaKindOf(mimeType: string | null): MediaKind | null {
  if (mimeType === null) return null;
  const [group] = mimeType.split('/');
  if (group === 'image') return 'IMAGE';
  if (group === 'video') return 'VIDEO';
  if (group === 'audio') return 'AUDIO';
  return KINDS[mimeType] ?? null;
}
