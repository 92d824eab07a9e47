import type { MediaFacts } from './media.ts';

export const NO_FACTS: MediaFacts = {
  durationMs: null,
  width: null,
  height: null,
  frameRate: null,
  variableFrameRate: null,
  frameCount: null,
  videoCodec: null,
  audioCodec: null,
  audioChannels: null,
  hdr: null,
  pageCount: null,
  triangleCount: null,
  placeholder: null,
};
