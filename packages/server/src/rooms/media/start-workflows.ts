import type { Deps } from '../../deps.ts';
import { keepStartingWorkflows } from '../workers/start-workflows.ts';
import { claimDueMedia, releaseMedia } from './tasks.ts';

/** Starts a workflow for each file whose media is to be read, until the signal aborts. */
export const keepStartingMedia = (
  deps: Pick<Deps, 'db' | 'clock' | 'log'>,
  { startMedia }: { startMedia(fileId: string): Promise<void> },
  stop: AbortSignal,
): Promise<void> =>
  keepStartingWorkflows(
    deps,
    {
      subject: 'media',
      leaseSeconds: 60,
      claim: (asked) => claimDueMedia(deps.db, asked),
      start: ({ fileId }) => startMedia(fileId),
      release: (claimed) => releaseMedia(deps.db, { ...claimed, now: deps.clock() }, false),
    },
    stop,
  );
