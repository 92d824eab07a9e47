import type { FileDetails } from '@review/contract';
import type { SeekRequest } from '../use-position.ts';

export interface ViewerProps {
  file: FileDetails;
  /** Presigned URL; supports range requests without a credential. */
  url: string;
  asked: SeekRequest | null;
  /** Reports the position in the file; `settled` is false while it changes by itself, as in a playing video. */
  onPosition: (at: number, settled: boolean) => void;
}
