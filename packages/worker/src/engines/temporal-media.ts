import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type MediaContext, readMedia } from '../media-tasks/read-media.ts';
import type { MediaActivities } from '../workflows/read-media.ts';

const BEAT_MS = 4000;
/** As long as a lease of the other engine, so that a storage that refuses for a moment does not use up the attempts. */
const RETRY_MS = 30_000;

/** Returns the activities of media workflows. */
export const mediaActivities = (context: MediaContext, stop: AbortSignal): MediaActivities => ({
  async readFile(fileId) {
    const { heartbeat } = Context.current();
    const beating = setInterval(() => heartbeat(), BEAT_MS);
    try {
      await readMedia(context, { fileId, epoch: null }, stop);
    } catch (error) {
      throw ApplicationFailure.fromError(error, { nextRetryDelay: RETRY_MS });
    } finally {
      clearInterval(beating);
    }
  },
});
