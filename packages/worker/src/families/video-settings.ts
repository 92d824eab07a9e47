import type { VideoSettings, WorkerTask } from '@review/contract';
import { StepError } from '../step-error.ts';

/** The settings in effect, which every video has. */
export function settingsOf({ configs, outputModel }: WorkerTask): VideoSettings {
  if (configs === null) throw new StepError('CONFIG_INVALID', `${outputModel} needs the settings of a video.`);
  return configs;
}
