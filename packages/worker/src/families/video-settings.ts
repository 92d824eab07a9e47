import type { VideoSettings, WorkerTask } from '@review/contract';
import { StepError } from '../step-error.ts';

/** Returns the video settings of a task; throws CONFIG_INVALID if it has none. */
export function settingsOf({ configs, outputModel }: WorkerTask): VideoSettings {
  if (configs === null) throw new StepError('CONFIG_INVALID', `${outputModel} needs video settings in configs.`);
  return configs;
}
