import type { FileRecord } from '@review/contract';
import type { IconName } from '../ui/icon.tsx';

type FileKind = 'image' | 'video' | 'audio' | 'document' | 'model' | 'other';

const OUTPUT_KINDS = { DOCUMENT: 'document', IMAGE: 'image', VIDEO: 'video', '3D': 'model' } as const;
const ICONS: Record<FileKind, IconName> = {
  image: 'image',
  video: 'film',
  audio: 'sound',
  document: 'document',
  model: 'box',
  other: 'document',
};

const MEDIA_KINDS = { VIDEO: 'video', IMAGE: 'image', AUDIO: 'audio', DOCUMENT: 'document', MODEL: 'model' } as const;

type Typed = Pick<FileRecord, 'mimeType' | 'generation' | 'media'>;

export function kindOf({ mimeType, generation, media }: Typed): FileKind {
  if (media !== null) return MEDIA_KINDS[media.kind];
  if (mimeType === null) return generation === null ? 'other' : OUTPUT_KINDS[generation.outputType];
  if (mimeType.startsWith('image/')) return 'image';
  if (mimeType.startsWith('video/')) return 'video';
  if (mimeType.startsWith('audio/')) return 'audio';
  if (mimeType.startsWith('model/')) return 'model';
  return mimeType === 'application/pdf' || mimeType.startsWith('text/') ? 'document' : 'other';
}

export const iconOf = (file: Typed): IconName => ICONS[kindOf(file)];
