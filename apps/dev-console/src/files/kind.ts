import type { FileRecord } from '@review/contract';
import type { IconName } from '../ui/icon.tsx';

type FileKind = 'image' | 'video' | 'document' | 'model' | 'other';

const OUTPUT_KINDS = { DOCUMENT: 'document', IMAGE: 'image', VIDEO: 'video', '3D': 'model' } as const;
const ICONS: Record<FileKind, IconName> = {
  image: 'image',
  video: 'film',
  document: 'document',
  model: 'box',
  other: 'document',
};

export function kindOf({ mimeType, generation }: Pick<FileRecord, 'mimeType' | 'generation'>): FileKind {
  if (mimeType === null) return generation === null ? 'other' : OUTPUT_KINDS[generation.outputType];
  if (mimeType.startsWith('image/')) return 'image';
  if (mimeType.startsWith('video/')) return 'video';
  if (mimeType.startsWith('model/')) return 'model';
  return mimeType === 'application/pdf' || mimeType.startsWith('text/') ? 'document' : 'other';
}

export const iconOf = (file: Pick<FileRecord, 'mimeType' | 'generation'>): IconName => ICONS[kindOf(file)];
