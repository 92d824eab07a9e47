import type { Family as FamilyName } from '@review/contract';
import { document } from './document.ts';
import type { FamilyDescription } from './family.ts';
import { geminiImage } from './gemini-image.ts';
import { gptImage } from './gpt-image.ts';
import { hunyuan3d } from './hunyuan3d.ts';
import { kling } from './kling.ts';
import { meshy } from './meshy.ts';
import { minimax } from './minimax.ts';
import { seedance } from './seedance.ts';
import { veo } from './veo.ts';

/** The adapters of all families: the only list of them in the worker. */
export const ADAPTERS: Readonly<Record<FamilyName, FamilyDescription<object>>> = {
  document,
  'gpt-image': gptImage,
  'gemini-image': geminiImage,
  seedance,
  kling,
  minimax,
  veo,
  meshy,
  hunyuan3d,
};
