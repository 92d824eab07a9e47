import type { WaitingFor } from '@review/contract';

/** Why a run is queued, as one line of text. */
export const WAITING_REASONS: Record<WaitingFor, string> = {
  WORKER: 'Waiting for a worker: none that supports this model is running.',
  SLOT: 'Waiting for another run of this workspace to finish.',
  PAUSED: 'Waiting: the operator has paused this model family.',
  FAMILY_CAP: 'Waiting for another run of this model family to finish.',
};
