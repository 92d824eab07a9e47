import type { ReadOrder } from './read-order.ts';
import type { VideoSource } from './video-source.ts';

/** Opens a video or sound with the decoder of the order. Each is loaded on demand. */
export async function openVideo({ input, decoder }: ReadOrder): Promise<VideoSource> {
  if (decoder.name === 'ffmpeg') return (await import('./ffmpeg-source.ts')).openWithFfmpeg(input, decoder.path);
  if (decoder.name === 'node-av') return (await import('./av-source.ts')).openWithNodeAv(input);
  return (await import('./container-source.ts')).openContainer(input);
}
