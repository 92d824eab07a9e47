import type { FileRecord } from '@review/contract';
import type { Asked } from '../use-at.ts';

export interface ViewerProps {
  file: FileRecord;
  /** Signed: serves ranges without a credential. */
  url: string;
  asked: Asked | null;
  /** Tells where in the file the visitor is; `settled` unless it is only passing, as a video that plays. */
  onLook: (at: number, settled: boolean) => void;
}
