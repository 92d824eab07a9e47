import type { WaitingFor } from '@review/contract';

/** What keeps a run in the queue, in one line. */
export const WAITS: Record<WaitingFor, string> = {
  WORKER: 'Waits for a worker: none that can make it is running.',
  SLOT: 'Waits for another run of this workspace to end.',
  FAMILY_CAP: 'Waits for another run of this model family to end.',
};
