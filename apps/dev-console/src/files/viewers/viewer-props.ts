import type { FileRecord } from '@review/contract';
import type { Asked } from '../use-at.ts';

export interface ViewerProps {
  file: FileRecord;
  /** Presigned URL; supports range requests without a credential. */
  url: string;
  asked: Asked | null;
  /** Reports the position in the file; `settled` is false while it changes by itself, as in a playing video. */
  onLook: (at: number, settled: boolean) => void;
}
