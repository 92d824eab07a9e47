import { proxyActivities } from '@temporalio/workflow';

/** The activities of media workflows. */
export interface MediaActivities {
  /** Reads the media of a file. Takes it over from an attempt that is presumed dead. */
  readFile(fileId: string): Promise<void>;
}

const RUN_HOURS = 6;
const HEARTBEAT_SECONDS = 15;

const { readFile } = proxyActivities<MediaActivities>({
  startToCloseTimeout: RUN_HOURS * 3600 * 1000,
  heartbeatTimeout: HEARTBEAT_SECONDS * 1000,
  retry: { initialInterval: 1000, maximumInterval: 30_000, backoffCoefficient: 2 },
});

/** Reads the media of a file. The server counts the attempts and ends the task after the last one: the row has the state. */
export const readMedia = (fileId: string): Promise<void> => readFile(fileId);
