import { Context } from '@temporalio/activity';
import { type MediaContext, readMedia } from '../media-tasks/read-media.ts';
import type { MediaActivities } from '../workflows/read-media.ts';

const BEAT_MS = 4000;

/** Returns the activities of media workflows. */
export const mediaActivities = (context: MediaContext, stop: AbortSignal): MediaActivities => ({
  async readFile(fileId) {
    const { heartbeat } = Context.current();
    const beating = setInterval(() => heartbeat(), BEAT_MS);
    try {
      await readMedia(context, { fileId, epoch: null }, stop);
    } finally {
      clearInterval(beating);
    }
  },
});
