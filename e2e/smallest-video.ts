import type { Model, VideoConfigs } from '@review/contract';

/** The smallest video settings of a model, in portrait format where possible; undefined for other models. */
export const smallestVideo = ({ video }: Model): VideoConfigs | undefined =>
  video === null
    ? undefined
    : {
        resolution: video.resolutions[0] ?? '',
        durationSeconds: video.seconds.min,
        aspectRatio: video.ratios.includes('9:16') ? '9:16' : '16:9',
        generateAudio: video.audio,
      };
